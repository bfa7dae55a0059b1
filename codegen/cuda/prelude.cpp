#include "codegen/cuda/prelude.h"

#include <cstdlib>

#include "codegen/cuda/prelude_pieces.h"

namespace einkern::codegen::cuda {

namespace {

bool is_identifier_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

const std::vector<PreludePiece>& prelude_pieces() {
  static const std::vector<PreludePiece> all = [] {
    std::vector<PreludePiece> pieces;
    for (const auto& group : {prelude_types(), prelude_conversions(), prelude_arithmetic(),
                              prelude_collectives(), prelude_products(), prelude_hopper()})
      pieces.insert(pieces.end(), group.begin(), group.end());
    return pieces;
  }();
  return all;
}

void Prelude::use(std::string_view name) {
  if (used_.find(name) != used_.end()) return;
  const PreludePiece* chosen = nullptr;
  for (const PreludePiece& piece : prelude_pieces())
    if (piece.name == name && piece.least_capability <= compute_capability_) chosen = &piece;
  if (chosen == nullptr) std::abort();
  used_.emplace(name);
  for (const std::string_view other : chosen->requires_pieces) use(other);
}

void Prelude::use_names_in(std::string_view text) {
  for (std::size_t at = text.find("ek_"); at != std::string_view::npos; at = text.find("ek_", at + 1)) {
    if (at > 0 && is_identifier_character(text[at - 1])) continue;
    std::size_t end = at;
    while (end < text.size() && is_identifier_character(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    for (const PreludePiece& piece : prelude_pieces())
      if (piece.name == name) {
        use(name);
        break;
      }
  }
}

std::string Prelude::text() const {
  std::string result;
  const std::vector<PreludePiece>& pieces = prelude_pieces();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (used_.find(pieces[i].name) == used_.end() || pieces[i].least_capability > compute_capability_)
      continue;
    bool replaced = false;
    for (std::size_t j = i + 1; j < pieces.size(); ++j)
      replaced =
          replaced || (pieces[j].name == pieces[i].name && pieces[j].least_capability <= compute_capability_);
    if (!replaced) result += pieces[i].text;
  }
  return result;
}

}  // namespace einkern::codegen::cuda
