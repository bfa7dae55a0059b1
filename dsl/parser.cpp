#include "dsl/parser.h"

#include "dsl/comment_attachment.h"
#include "dsl/function_parser.h"
#include "dsl/lexer.h"
#include "dsl/token_cursor.h"

namespace einkern::dsl {
namespace {

void collect_function_names(const SourceSet& sources, const std::vector<Token>& tokens,
                            FunctionNames& names) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
    if (tokens[i].kind == TokenKind::kw_fn && tokens[i + 1].kind == TokenKind::identifier)
      names.emplace(sources.text(tokens[i + 1].range));
}

}  // namespace

std::vector<ast::Module> parse(const SourceSet& sources, DiagnosticBag& diagnostics) {
  std::vector<LexedSource> lexed;
  FunctionNames
      functions;  // of all sources first: a user's function wins over a built-in one, wherever it stands
  for (std::uint32_t file = 0; file < sources.size(); ++file) {
    lexed.push_back(lex(sources, file, diagnostics));
    collect_function_names(sources, lexed.back().tokens, functions);
  }
  std::vector<ast::Module> modules(sources.size());
  for (std::uint32_t file = 0; file < sources.size(); ++file) {
    TokenCursor cursor(sources, lexed[file].tokens, diagnostics);
    modules[file].file = file;
    modules[file].functions = FunctionParser(cursor, functions).parse_module();
    attach_comments(sources.file(file), std::move(lexed[file].comments), modules[file]);
  }
  diagnostics.sort();  // the lexer had its say before the parser
  return modules;
}

}  // namespace einkern::dsl
