// Diagnostics drawn by LLVM's SourceMgr, which draws those of LLVM's own tools.
#ifdef EINKERN_HAS_LLVM
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "dsl/diagnostic_drawing.h"

namespace einkern::dsl {
namespace {

llvm::SMRange located(const SourceFile& file, SourceRange range) {
  const char* text = file.text().data();
  return {llvm::SMLoc::getFromPointer(text + range.begin), llvm::SMLoc::getFromPointer(text + range.end)};
}

llvm::SourceMgr::DiagKind kind_of(Drawing::Label label) {
  switch (label) {
    case Drawing::Label::error:
      return llvm::SourceMgr::DK_Error;
    case Drawing::Label::warning:
      return llvm::SourceMgr::DK_Warning;
    case Drawing::Label::note:
      return llvm::SourceMgr::DK_Note;
  }
  return llvm::SourceMgr::DK_Error;
}

/// A string that takes colours if it is told to: LLVM asks the stream.
class PictureStream : public llvm::raw_string_ostream {
 public:
  PictureStream(std::string& out, bool colours) : raw_string_ostream(out), colours_(colours) {
    enable_colors(colours);
  }
  bool has_colors() const override { return colours_; }

 private:
  bool colours_;
};

}  // namespace

void paint_with_llvm(const SourceSet& sources, const Drawing& drawing, bool colours, std::string& out) {
  const SourceFile& file = sources.file(drawing.range.file);
  llvm::SourceMgr manager;
  manager.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(file.text(), file.name()), llvm::SMLoc());
  std::vector<llvm::SMRange> ranges{located(file, drawing.range)};
  for (SourceRange range : drawing.further_ranges)
    if (range.file == drawing.range.file) ranges.push_back(located(file, range));
  std::vector<llvm::SMFixIt> fixes;
  for (const Edit& edit : drawing.edits) fixes.emplace_back(located(file, edit.range), edit.replacement);
  PictureStream stream(out, colours);
  manager.GetMessage(ranges.front().Start, kind_of(drawing.label), drawing.message, ranges, fixes)
      .print(nullptr, stream, colours);
}

}  // namespace einkern::dsl
#endif
