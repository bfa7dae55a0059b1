// Random syntax trees for property tests: every node and every place of the grammar, from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dsl/ast.h"

namespace einkern::dsl::testing {

/// The same seed gives the same trees on every machine.
class SyntaxGenerator {
 public:
  explicit SyntaxGenerator(std::uint32_t seed) : random_(seed) {}

  /// A tree of at most `depth` levels; an `else` stands on top only where `may_be_else`.
  ast::ExpressionPointer expression(int depth, bool may_be_else = false);
  ast::Module module();

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  bool chance(std::uint32_t one_in) { return below(one_in) == 0; }
  std::string name();
  ast::Identifier identifier() { return {name(), {}}; }
  ast::Identifier type();
  ast::ExpressionPointer leaf();
  ast::ExpressionPointer comparison(int depth);
  ast::ExpressionPointer index(int depth);
  ast::ExpressionPointer call(int depth);
  ast::ExpressionPointer reduction(int depth);
  ast::Bounds bounds(int depth);
  std::vector<ast::ExpressionPointer> shape();
  std::vector<ast::Comment> comments();
  ast::Parameter parameter();
  ast::Definition definition();
  ast::Function function();

  std::mt19937 random_;
};

}  // namespace einkern::dsl::testing
