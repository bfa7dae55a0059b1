#include "dsl/limits.h"

#include <fmt/format.h>

namespace einkern::dsl::limits {

std::string exceeded(const char* plural, std::size_t limit) {
  return fmt::format("more than {} {}, which is the limit", limit, plural);
}

}  // namespace einkern::dsl::limits
