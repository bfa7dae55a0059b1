// Checked expressions as text, for messages and dumps.
#pragma once

#include <cstddef>
#include <string>

#include "dsl/function.h"

namespace einkern::dsl {

/// The expression in the language's notation, with the function's names and as few parentheses as the
/// precedences allow; one longer than `most` characters is cut with "...". Not made to be parsed back.
std::string expression_text(const Function& function, ExpressionId id, std::size_t most = 400);

}  // namespace einkern::dsl
