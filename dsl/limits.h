// Every limit of the language's front end, by name; each has a test at the limit and one past it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace einkern::dsl::limits {

inline constexpr std::size_t source_bytes = 1 << 20;   ///< bytes of one source
inline constexpr std::size_t tokens = 400'000;         ///< tokens of one source
inline constexpr std::size_t identifier_length = 128;  ///< characters of a name
inline constexpr std::size_t nesting = 256;  ///< brackets, unary operators, reductions inside each other
inline constexpr std::uint32_t expression_height =
    1000;                                       ///< levels of an expression's tree, so terms in a row of +
inline constexpr std::size_t rank = 16;         ///< dimensions of a tensor, variables of a reduction
inline constexpr std::size_t parameters = 256;  ///< items in any other list
inline constexpr std::size_t calls = 500;       ///< calls inlined into one function
inline constexpr std::size_t call_depth = 64;   ///< calls inside each other
inline constexpr std::uint32_t inlined_height = 1200;   ///< levels of an expression once calls are inlined
inline constexpr std::uint64_t inlined_size = 200'000;  ///< its operations, each counted where it is used
inline constexpr std::size_t type_choices =
    512;                              ///< combinations of compute types checked of a generic function
inline constexpr int errors = 20;     ///< errors reported in a run
inline constexpr int warnings = 100;  ///< warnings reported in a run

/// What an error about a limit says: "more than 16 dimensions, which is the limit".
std::string exceeded(const char* plural, std::size_t limit);

}  // namespace einkern::dsl::limits
