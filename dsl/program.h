// From sources to functions: the one door to the compiler's front.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"
#include "dsl/diagnostic.h"
#include "dsl/function.h"
#include "dsl/source.h"

namespace einkern::dsl {

/// Types chosen for a function's generic names: {"T", bf16}.
using TypeBinding = std::map<std::string, DType, std::less<>>;

/// A parameter or result as written, before types are chosen.
struct SignatureItem {
  enum class Kind { tensor, scalar, dim } kind = Kind::tensor;
  std::string name;
  std::string generic;             // the generic name of its type, else empty
  DType dtype = DType::f32;        // where not generic
  std::vector<std::string> shape;  // of tensors: each dimension as written
  bool has_default = false;
  bool inout = false;
};

struct Signature {
  std::string name;
  std::string documentation;
  std::vector<std::pair<std::string, std::vector<DType>>> generics;  // name, allowed types
  std::vector<SignatureItem> parameters, results;
  std::string text;  // as written, on one line
};

/// Parsed and checked sources. Immutable; copies share.
class Program {
 public:
  /// Parses all sources and checks every function, generic ones once for each choice of compute types they
  /// allow. Errors and warnings go to `diagnostics`; no value if there was an error.
  static std::optional<Program> compile(const SourceSet& sources, DiagnosticBag& diagnostics);

  const std::vector<Signature>& signatures() const;
  const Signature* find(std::string_view function) const;

  /// Generic types deduced from the arguments' element types (in parameter order, nullopt where unknown),
  /// completed by `given`. The error names what cannot be deduced and how to say it.
  core::Result<TypeBinding> deduce(const Signature& signature,
                                   const std::vector<std::optional<DType>>& arguments,
                                   const TypeBinding& given) const;
  /// The function for these types; the same object for the same types. Safe to call from many threads.
  core::Result<std::shared_ptr<const Function>> instantiate(std::string_view function,
                                                            const TypeBinding& types) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace einkern::dsl
