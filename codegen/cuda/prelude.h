// The prelude of an emitted file: the device functions that it uses, and no others. No header is included.
//
// Inline PTX stands in the prelude alone, each piece of it behind a function, so that tests can run emitted
// text on a host by putting other text in a piece's place.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace einkern::codegen::cuda {

/// One function or type of the prelude, with overloads.
struct PreludePiece {
  std::string_view name;  // as emitted text uses it
  std::vector<std::string_view> requires_pieces;
  int least_capability = 0;  // compute capability from which this text is used, 89 for 8.9
  std::string_view text;
};

/// All pieces; of two with one name, the later is for newer devices. Pieces stand below what they require.
const std::vector<PreludePiece>& prelude_pieces();

/// The pieces that one file uses.
class Prelude {
 public:
  explicit Prelude(int compute_capability) : compute_capability_(compute_capability) {}

  /// Adds a piece with what it requires. Aborts on an unknown name: emitters ask for names of the table
  /// alone.
  void use(std::string_view name);
  /// Adds every piece whose name stands in `text` as a whole identifier.
  void use_names_in(std::string_view text);
  /// The pieces' text in the table's order.
  std::string text() const;

 private:
  int compute_capability_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace einkern::codegen::cuda
