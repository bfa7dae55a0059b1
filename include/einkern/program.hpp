// Programs and functions: from source text to calls.
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "einkern/tensor.hpp"

namespace einkern {

namespace detail {
struct ProgramState;
struct FunctionState;
}  // namespace detail

/// A tensor, or a number for a scalar or dim parameter. A rank-0 tensor may stand for a scalar too: its value
/// is read back at the call, which waits for the stream, and so not while one is captured.
class EINKERN_API Argument {
 public:
  Argument(Tensor tensor) : value_(std::move(tensor)) {}  // NOLINT(google-explicit-constructor)
  template <typename Number>
    requires std::floating_point<Number>
  Argument(Number value) : value_(static_cast<double>(value)) {}  // NOLINT(google-explicit-constructor)
  template <typename Number>
    requires std::integral<Number>
  Argument(Number value) : value_(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  const std::variant<Tensor, double, std::int64_t>& value() const { return value_; }

 private:
  std::variant<Tensor, double, std::int64_t> value_;
};

using NamedArguments = std::initializer_list<std::pair<std::string_view, Argument>>;

/// What a call gives: one tensor a result. Converts to a Tensor where there is one; else by index, name, or
/// `auto [q, s] = quantise(x).unpack<2>();`.
class EINKERN_API Results {
 public:
  Results(std::vector<std::string> names, std::vector<Tensor> tensors)
      : names_(std::move(names)), tensors_(std::move(tensors)) {}
  operator Tensor() const;  // NOLINT(google-explicit-constructor)
  Tensor operator[](std::size_t index) const { return tensors_.at(index); }
  Tensor operator[](std::string_view name) const;
  std::size_t size() const { return tensors_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  template <std::size_t Count>
  std::array<Tensor, Count> unpack() const {
    std::array<Tensor, Count> all;
    check_count(Count);
    for (std::size_t i = 0; i < Count; ++i) all[i] = tensors_[i];
    return all;
  }

 private:
  void check_count(std::size_t count) const;
  std::vector<std::string> names_;
  std::vector<Tensor> tensors_;
};

/// How long `Function::tune` may take, and what it tells meanwhile.
struct TuneOptions {
  double seconds = 10;
  int candidates = 48;
};

/// A function of a program on one device. Keeps its kernels by shape and layout: the first call of a shape
/// compiles (or finds in the cache), later ones only launch. Calls from many threads are safe.
class EINKERN_API Function {
 public:
  /// Calls by position, on the default stream. Results are allocated. Throws ShapeError, UsageError or
  /// DeviceError.
  template <typename... Arguments>
    requires(std::convertible_to<Arguments, Argument> && ...)
  Results operator()(Arguments&&... arguments) const {
    return call({Argument(std::forward<Arguments>(arguments))...}, {});
  }
  /// Calls by name: `f({{"x", x}, {"scale", 0.5}})`.
  Results operator()(NamedArguments arguments) const { return call_named(arguments, {}); }
  Results call(const std::vector<Argument>& arguments, Stream stream) const;
  Results call_named(NamedArguments arguments, Stream stream) const;

  /// Writes into the caller's tensors, one a result, on the caller's stream; allocates nothing but workspace.
  template <typename... Arguments>
  void into(const Tensor& output, Stream stream, Arguments&&... arguments) const {
    call_into({output}, {Argument(std::forward<Arguments>(arguments))...}, stream);
  }
  void call_into(const std::vector<Tensor>& outputs, const std::vector<Argument>& arguments,
                 Stream stream) const;

  /// Compiles for these arguments' shapes and layouts now, so that later calls (and captures into CUDA
  /// graphs) only launch.
  void prepare(const std::vector<Argument>& arguments) const;
  /// Bytes of scratch memory that a call with such arguments uses.
  std::int64_t workspace_bytes(const std::vector<Argument>& arguments) const;
  /// Searches the best kernels for these arguments' shapes; every process uses them from then on. Blocks.
  void tune(const std::vector<Argument>& arguments, const TuneOptions& options = {}) const;
  /// Kernels, fusion, bytes, operations and chosen configurations for such a call, as text.
  std::string explain(const std::vector<Argument>& arguments) const;
  /// The sources of the kernels for such a call: CUDA C++, or LLVM IR.
  std::string source(const std::vector<Argument>& arguments) const;

  /// The function with a generic type set, where no argument says it.
  Function with(std::string_view generic, DType type) const;
  Function on(Device device) const;
  Device device() const;
  /// The signature as written.
  std::string signature() const;

 private:
  friend class Program;
  friend struct detail::Access;
  std::shared_ptr<detail::FunctionState> state_;
};

struct Source;

/// Checked sources. Copies share.
class EINKERN_API Program {
 public:
  /// A function; throws UsageError with the nearest name if there is none. It runs on Device::best() until
  /// `.on(device)`.
  Function operator[](std::string_view function) const;
  std::vector<std::string> functions() const;
  /// Warnings of the compile, as a terminal shows them; empty if none.
  const std::string& warnings() const;

 private:
  friend Program compile_sources(const std::vector<Source>& sources);
  friend struct detail::Access;
  std::shared_ptr<detail::ProgramState> state_;
};

/// Compiles source text; `name` is what diagnostics call it. Throws CompileError.
EINKERN_API Program compile(std::string_view source, std::string_view name = "program.ein");
/// One text of a program, and what diagnostics call it.
struct Source {
  std::string name, text;
};
/// Compiles several sources as one program, whose functions may call one another. Throws CompileError.
EINKERN_API Program compile_sources(const std::vector<Source>& sources);
/// Compiles a file. Throws IoError, CompileError.
EINKERN_API Program compile_file(const std::string& path);

}  // namespace einkern
