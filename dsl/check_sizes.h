// Sizes and indices as the checker reasons about them: symbolically, before any dim has a value.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "dsl/function.h"
#include "dsl/linear_form.h"

namespace einkern::dsl {

/// A computed index that leaves its tensor for every size: its half-open interval, as text.
struct LeavingIndex {
  std::string interval;
};

/// How high an expression is, and how many nodes it has where shared ones count each time.
struct ExpressionMetrics {
  std::uint32_t height = 0;
  std::uint64_t size = 0;
};

/// Answers about the expressions of one function while it grows. Remembers what it has seen.
class SizeAnalysis {
 public:
  explicit SizeAnalysis(const Function& function) : function_(function) {}

  /// Whether an index can only be known when data are: it holds a read, a scalar parameter, a float or a
  /// random number, or a variable whose range does.
  bool is_data_dependent(ExpressionId id);
  /// Whether an expression holds nothing but dims and numbers.
  bool is_over_dims(ExpressionId id);
  /// An i64 expression as a sum of terms: axes, dims, and whatever is not a sum.
  const LinearForm& linear_form(ExpressionId id);
  /// Whether two sizes are equal whatever the dims are.
  bool equal(ExpressionId left, ExpressionId right);
  /// Whether a computed index leaves 0..extent whatever the sizes are, as long as its axes have values.
  std::optional<LeavingIndex> leaves(ExpressionId index, ExpressionId extent);
  ExpressionMetrics metrics(ExpressionId id);
  /// A sum as text: "2 * N - 1".
  std::string text(const LinearForm& form) const;

 private:
  struct Range {
    LinearForm low, last;
  };
  std::optional<Range> range_of(LinearForm form);
  bool replace_axes(LinearForm& form, bool upper);
  bool at_least(const LinearForm& form, std::int64_t least, const LinearForm& index) const;

  const Function& function_;
  std::unordered_map<ExpressionId, bool> data_dependent_;
  std::unordered_map<ExpressionId, LinearForm> forms_;
  std::vector<ExpressionMetrics> metrics_;
};

}  // namespace einkern::dsl
