// Several consecutive elements of one axis in a thread's registers: wide loads, an element loop, wide stores.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cuda/expression_emitter.h"

namespace einkern::codegen::cuda {

/// `width` elements of `axis` that a thread computes together. Reads that move by one along the axis and
/// whose alignment is known are loaded by as few accesses as they allow; the other reads stand in the element
/// loop.
class VectorBlock {
 public:
  /// Looks for such reads below `roots`. With width 1 every unguarded read that moves along the axis counts,
  /// so that several of them can be in flight.
  /// `elsewhere`: reads that the caller binds by itself.
  VectorBlock(ExpressionEmitter& emitter, AxisId axis, int width, const std::vector<ExpressionId>& roots,
              const std::vector<ExpressionId>& elsewhere = {});

  bool has_reads() const { return !reads_.empty(); }
  /// The reads that it loads.
  std::vector<ExpressionId> reads() const;

  /// What the default does not know; an empty function means the default, which takes offsets from the bound
  /// axes.
  struct Hooks {
    std::function<std::string(ExpressionId read)> read_offset;     // in elements, where the block begins
    std::function<std::string(const Store& store)> store_offset;   // in elements, where the block begins
    std::function<void(const std::string& element)> bind_element;  // binds further nodes for one element
  };

  /// Declares registers for `slots` blocks (an array if more than one).
  void declare(int slots);
  /// Loads the block that begins at the bound axes into a slot, its text given ("u"; empty with one slot).
  void load(std::string_view slot, const Hooks& hooks);
  /// Binds the reads to one element's registers, in the current scope.
  void bind(std::string_view slot, std::string_view element);

  /// Text of one element as stored, not converted.
  std::string stored_element(ExpressionId read, std::string_view slot, std::string_view element) const;

  /// The element loop of a whole block and its stores: evaluates every store with the axis at `first` +
  /// element.
  void emit_stores(const std::vector<Store>& stores, const std::string& first, std::string_view slot,
                   const Hooks& hooks);

 private:
  struct VectorRead {
    ExpressionId read;
    int piece = 1;  // elements an access
    std::string registers;
  };
  struct VectorStore {
    const Store* store;
    int piece = 1;
    std::string registers;  // empty with piece 1
  };
  std::vector<VectorStore> declare_stores(const std::vector<Store>& stores);
  void emit_element(const std::vector<VectorStore>& stores, const std::string& element, const Hooks& hooks);
  std::string store_offset(const Store& store, const Hooks& hooks);
  std::string slot_text(const std::string& registers, std::string_view slot) const;

  ExpressionEmitter& emitter_;
  AxisId axis_;
  int width_;
  int slots_ = 1;
  std::vector<VectorRead> reads_;
};

/// Most elements along `axis` that one access of the kernel may move (16 bytes of them), at most `most`; 1 if
/// none is wide.
int widest_vector(const KernelContext& context, AxisId axis, int most = 16);

/// Whether `width` is known to divide the axis's size, so that no block is cut.
bool divides_axis(const KernelContext& context, AxisId axis, int width);

}  // namespace einkern::codegen::cuda
