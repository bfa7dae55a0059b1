#include "tests/support/random_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "codegen/reference/random_tensor.h"

namespace einkern::testing {
namespace {

namespace reference = codegen::reference;

/// An index variable in scope, over the whole of a dim.
struct Variable {
  std::string name;
  std::size_t dim;
};
using Scope = std::vector<Variable>;

struct KnownTensor {
  std::string name;
  DType dtype;
  std::vector<std::size_t> dims;
};

/// What all parts of a program share: its choices, dims, tensors and arguments. Only the generator's own
/// words and integer arithmetic decide, so that a seed means the same program everywhere.
class Material {
 public:
  explicit Material(std::uint64_t seed) : seed_(seed), random_(static_cast<std::mt19937::result_type>(seed)) {
    static const std::vector<std::int64_t> sizes = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40};
    const int dims = pick(2, 4);
    for (int i = 0; i < dims; ++i) sizes_.push_back(chance(3) ? 0 : one_of(sizes));
  }

  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(pick(0, static_cast<int>(items.size()) - 1))];
  }

  DType float_type() {
    return one_of<DType>(
        {DType::f32, DType::f32, DType::f32, DType::bf16, DType::f16, DType::f8e4m3, DType::f8e5m2});
  }
  DType integer_type() {
    return one_of<DType>({DType::i32, DType::i32, DType::i8, DType::u8, DType::i16, DType::u16});
  }

  Variable variable() { return {fmt::format("v{}", next_variable_++), random_() % sizes_.size()}; }
  Scope variables(int count) {
    Scope scope;
    for (int i = 0; i < count; ++i) scope.push_back(variable());
    return scope;
  }
  std::int64_t size_of(const Variable& axis) const { return sizes_[axis.dim]; }
  std::string dim_name(std::size_t which) {
    used_dims_.insert(which);
    return fmt::format("D{}", which);
  }
  std::string range(const Variable& axis) {
    return fmt::format("{} in 0..{}", axis.name, dim_name(axis.dim));
  }
  std::string ranges(const Scope& scope) {
    std::vector<std::string> texts;
    for (const Variable& axis : scope) texts.push_back(range(axis));
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  std::string shape(const Scope& scope) {
    std::vector<std::string> texts;
    for (const Variable& axis : scope) texts.push_back(dim_name(axis.dim));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  void add_tensor(const std::string& name, DType dtype, const Scope& axes) {
    KnownTensor tensor{name, dtype, {}};
    for (const Variable& axis : axes) tensor.dims.push_back(axis.dim);
    tensors_.push_back(std::move(tensor));
  }

  /// A new input over these axes, read at them.
  std::string new_input(DType dtype, const Scope& axes) {
    const std::string name = fmt::format("x{}", inputs_.size());
    const std::uint64_t seed = seed_ * 64 + inputs_.size();
    declare(name, dtype, axes,
            chance(50) ? reference::random_uniform(dtype, extents(axes), seed)
                       : reference::random_small_integers(dtype, extents(axes), seed));
    add_tensor(name, dtype, axes);
    return name + indices(axes);
  }
  /// A new input of indices for a dim, over one axis; some of them lie just outside.
  std::string new_indices(const Variable& axis, const Variable& target) {
    const std::string name = fmt::format("x{}", inputs_.size());
    declare(name, DType::i32, {axis},
            reference::random_indices(DType::i32, {size_of(axis)}, -1, size_of(target) + 1,
                                      seed_ * 64 + inputs_.size()));
    return name + indices({axis});
  }
  std::string new_scalar() {
    const std::string name = fmt::format("s{}", scalars_.size());
    scalars_.push_back(name + ": f32");
    arguments_.emplace(name, HostScalar{DType::f32, 0.25 * pick(-8, 8), 0});
    return name;
  }

  /// Reads of known tensors that fit the scope: each dimension at a variable over the same dim.
  std::vector<std::string> fitting_reads(const Scope& scope, bool of_float) {
    std::vector<std::string> reads;
    for (const KnownTensor& tensor : tensors_) {
      if (core::is_float(tensor.dtype) != of_float) continue;
      Scope axes;
      for (const std::size_t which : tensor.dims) {
        Scope matching;
        std::copy_if(scope.begin(), scope.end(), std::back_inserter(matching),
                     [&](const Variable& axis) { return axis.dim == which; });
        if (!matching.empty()) axes.push_back(one_of(matching));
      }
      if (axes.size() == tensor.dims.size()) reads.push_back(tensor.name + indices(axes));
    }
    return reads;
  }
  bool has_many_inputs() const { return inputs_.size() > 8; }

  /// Some of the scope's axes, in any order.
  Scope some_axes(Scope scope) {
    for (std::size_t i = scope.size(); i > 1; --i) std::swap(scope[i - 1], scope[random_() % i]);
    while (scope.size() > 3 || (scope.size() > 1 && chance(35))) scope.pop_back();
    return scope;
  }

  static std::string indices(const Scope& axes) {
    std::vector<std::string> names;
    for (const Variable& axis : axes) names.push_back(axis.name);
    return fmt::format("[{}]", fmt::join(names, ", "));
  }

  RandomProgram finish(const std::vector<std::string>& results, const std::vector<std::string>& definitions) {
    std::vector<std::string> parameters = inputs_;
    parameters.insert(parameters.end(), scalars_.begin(), scalars_.end());
    for (const std::size_t which : used_dims_) {
      if (bound_dims_.contains(which)) continue;
      parameters.push_back(fmt::format("D{}: dim", which));
      arguments_.emplace(fmt::format("D{}", which), sizes_[which]);
    }
    const std::string source = fmt::format("fn f({}) -> {} {{\n  {}\n}}\n", fmt::join(parameters, ", "),
                                           fmt::join(results, ", "), fmt::join(definitions, "\n  "));
    return {seed_, source, arguments_};
  }

 private:
  std::vector<std::int64_t> extents(const Scope& axes) const {
    std::vector<std::int64_t> result;
    for (const Variable& axis : axes) result.push_back(size_of(axis));
    return result;
  }
  void declare(const std::string& name, DType dtype, const Scope& axes, HostTensor value) {
    inputs_.push_back(fmt::format("{}: {}[{}]", name, core::dtype_name(dtype), shape(axes)));
    for (const Variable& axis : axes) bound_dims_.insert(axis.dim);
    arguments_.emplace(name, std::move(value));
  }

  std::uint64_t seed_;
  std::mt19937 random_;
  int next_variable_ = 0;
  std::vector<std::int64_t> sizes_;
  std::set<std::size_t> used_dims_, bound_dims_;
  std::vector<KnownTensor> tensors_;
  std::vector<std::string> inputs_, scalars_;
  NamedArguments arguments_;
};

/// Expressions by type: f32, i32 and bool.
class Expressions {
 public:
  explicit Expressions(Material& material) : m_(material) {}

  std::string number(const Scope& scope, int depth) {
    if (depth <= 0) return number_leaf(scope);
    switch (m_.pick(0, 11)) {
      case 0:
      case 1:
      case 2:
        return binary(m_.one_of<std::string>({"+", "-", "*"}), number(scope, depth - 1),
                      number(scope, depth - 1));
      case 3:
        return fmt::format("{}({}, {})", m_.one_of<std::string>({"max", "min"}), number(scope, depth - 1),
                           number(scope, depth - 1));
      case 4:
      case 5:
        return bounded_function(number(scope, depth - 1));
      case 6:
        return fmt::format("({} / (abs({}) + 0.5))", number(scope, depth - 1), number(scope, depth - 1));
      case 7:
        return fmt::format("where({}, {}, {})", condition(scope, depth - 1), number(scope, depth - 1),
                           number(scope, depth - 1));
      case 8:
        return fmt::format("f32({})", integer(scope, depth - 1));
      case 9:
        return fmt::format("{}({})", core::dtype_name(m_.float_type()), number(scope, depth - 1));
      default:
        return reduction(scope, depth - 1);
    }
  }

  std::string integer(const Scope& scope, int depth) {
    if (depth <= 0) return m_.chance(30) ? std::to_string(m_.pick(1, 9)) : read(scope, false);
    const std::string a = integer(scope, depth - 1);
    switch (m_.pick(0, 6)) {
      case 0:
        return binary(m_.one_of<std::string>({"/", "%"}), a, integer(scope, depth - 1));
      case 1:
        return binary(m_.one_of<std::string>({"&", "|", "^"}), a, integer(scope, depth - 1));
      case 2:
        return fmt::format("({} {} {})", a, m_.one_of<std::string>({"<<", ">>"}), m_.pick(0, 5));
      case 3:
        return fmt::format("{}({}, {})", m_.one_of<std::string>({"max", "min"}), a,
                           integer(scope, depth - 1));
      case 4:
        return fmt::format("i32({})", condition(scope, depth - 1));
      case 5:
        return fmt::format("{}({})", core::dtype_name(m_.integer_type()), a);
      default:
        return binary(m_.one_of<std::string>({"+", "-", "*"}), a, integer(scope, depth - 1));
    }
  }

  std::string condition(const Scope& scope, int depth) {
    const std::string sign = m_.one_of<std::string>({"<", "<=", ">", ">=", "==", "!="});
    if (depth > 0 && m_.chance(30)) {
      return fmt::format("({} {} {})", condition(scope, depth - 1), m_.one_of<std::string>({"and", "or"}),
                         condition(scope, depth - 1));
    }
    if (m_.chance(40))
      return fmt::format("({} {} {})", integer(scope, depth - 1), sign, integer(scope, depth - 1));
    if (m_.chance(30)) return fmt::format("({} {} {})", m_.one_of(scope).name, sign, m_.pick(0, 20));
    return fmt::format("({} {} {})", number(scope, depth - 1), m_.one_of<std::string>({"<", ">"}),
                       number(scope, depth - 1));
  }

  /// A sum of a product of two reads: any axes of the scope and one or two contracted ones in any layout.
  std::string contraction(const Scope& scope) {
    const Scope over = m_.variables(m_.chance(20) ? 2 : 1);
    const auto factor = [&] {
      Scope axes = m_.some_axes(scope);
      while (axes.size() > 2) axes.pop_back();
      axes.insert(axes.begin() + m_.pick(0, static_cast<int>(axes.size())), over.begin(), over.end());
      return m_.new_input(m_.float_type(), axes);
    };
    const std::string first = factor();
    return fmt::format("(sum({}) {} * {})", m_.ranges(over), first, factor());
  }

  std::string reduction(const Scope& scope, int depth) {
    if (m_.chance(35)) return contraction(scope);
    if (m_.chance(20)) return window(scope);
    if (m_.chance(20)) return gather(scope);
    const Variable over = m_.variable();
    Scope inner = scope;
    inner.push_back(over);
    const std::string body = number(inner, std::min(depth, 1));
    if (m_.chance(10)) return fmt::format("f32(sum({}) i32({}))", m_.range(over), condition(inner, 0));
    if (m_.chance(10))
      return fmt::format("(sum({} in 0..min({} + 1, {})) ({}))", over.name, m_.one_of(scope).name,
                         m_.dim_name(over.dim), body);
    return fmt::format("({}({}) ({}))", m_.one_of<std::string>({"sum", "sum", "max", "min", "mean"}),
                       m_.range(over), body);
  }

  std::string read(const Scope& scope, bool of_float) {
    const std::vector<std::string> fitting = m_.fitting_reads(scope, of_float);
    if (!fitting.empty() && (m_.has_many_inputs() || m_.chance(60))) return m_.one_of(fitting);
    return m_.new_input(of_float ? m_.float_type() : m_.integer_type(), m_.some_axes(scope));
  }

 private:
  static std::string binary(const std::string& sign, const std::string& a, const std::string& b) {
    return fmt::format("({} {} {})", a, sign, b);
  }

  std::string number_leaf(const Scope& scope) {
    if (m_.chance(12)) return fmt::format("{}", 0.125 * m_.pick(-16, 16) + 0.0625);
    if (m_.chance(8)) return m_.new_scalar();
    if (m_.chance(15)) return shifted(scope);
    return read(scope, true);
  }

  /// Functions that keep moderate values moderate.
  std::string bounded_function(const std::string& x) {
    static const std::vector<std::string> forms = {"tanh({})",
                                                   "sigmoid({})",
                                                   "exp(min({}, 2.0))",
                                                   "sqrt(abs({}) + 1)",
                                                   "silu({})",
                                                   "gelu({})",
                                                   "relu({})",
                                                   "abs({})",
                                                   "(-{})",
                                                   "floor({})",
                                                   "round({})",
                                                   "log1p(abs({}))",
                                                   "sin({})",
                                                   "rsqrt(abs({}) + 1)",
                                                   "erf({})"};
    return fmt::format(fmt::runtime(m_.one_of(forms)), x);
  }

  /// A read moved along one axis, or of the axis from its end.
  std::string shifted(const Scope& scope) {
    const Variable& axis = m_.one_of(scope);
    std::string input = m_.new_input(m_.float_type(), {axis});
    input.resize(input.find('['));
    if (m_.chance(40)) return fmt::format("{}[{} - 1 - {}]", input, m_.dim_name(axis.dim), axis.name);
    return fmt::format("({}[{} {} {}] else {})", input, axis.name, m_.one_of<std::string>({"+", "-"}),
                       m_.pick(1, 3), 0.5 * m_.pick(-2, 2));
  }

  std::string window(const Scope& scope) {
    const Variable over = m_.variable();
    const Variable& along = m_.one_of(scope);
    std::string input = m_.new_input(m_.float_type(), {along});
    input.resize(input.find('['));
    const std::string weight = m_.new_input(m_.float_type(), {over});
    return fmt::format("(sum({}) ({}[{}{} + {} - {}] else 0) * {})", m_.range(over), input,
                       m_.one_of<std::string>({"", "", "2 * "}), along.name, over.name, m_.pick(0, 4),
                       weight);
  }

  std::string gather(const Scope& scope) {
    const Variable target = m_.variable();
    const std::string where = m_.new_indices(m_.one_of(scope), target);
    Scope axes = {target};
    if (m_.chance(50)) axes.push_back(m_.one_of(scope));
    std::string table = m_.new_input(m_.float_type(), axes);
    table.resize(table.find('['));
    return fmt::format("{}[{}{}]", table, where, axes.size() > 1 ? ", " + axes[1].name : "");
  }

  Material& m_;
};

/// Whole definitions.
class Definitions {
 public:
  explicit Definitions(std::uint64_t seed) : m_(seed), expressions_(m_) {}

  RandomProgram generate() {
    for (int locals = m_.pick(0, 2); locals > 0; --locals) define_local();
    for (int left = m_.chance(20) ? 2 : 1; left > 0; --left) define_result();
    return m_.finish(results_, lines_);
  }

 private:
  std::string left(const std::string& name, const Scope& scope, const std::string& type = "") {
    return fmt::format("{}[{}]{}", name, m_.ranges(scope), type.empty() ? "" : ": " + type);
  }
  std::string next_local() { return fmt::format("h{}", locals_++); }

  std::string value(const Scope& scope) {
    if (m_.chance(25)) {  // a product with an epilogue
      return fmt::format("{} + {}", expressions_.contraction(scope), expressions_.number(scope, 1));
    }
    return expressions_.number(scope, m_.pick(1, 3));
  }

  void define_local() {
    if (m_.chance(30)) return define_chain();
    const Scope scope = m_.variables(m_.pick(1, 3));
    const std::string text = value(scope), name = next_local();
    const DType dtype = m_.chance(50) ? m_.float_type() : DType::f32;
    lines_.push_back(fmt::format(
        "{} = {}", left(name, scope, dtype == DType::f32 ? "" : std::string(core::dtype_name(dtype))), text));
    m_.add_tensor(name, dtype, scope);
  }

  /// softmax, layer norm or rms norm over the last axis.
  void define_chain() {
    const Scope scope = m_.variables(m_.pick(1, 2));
    const Variable column = m_.variable();
    Scope whole = scope;
    whole.push_back(column);
    const std::string body = expressions_.number(whole, 1);
    const std::string x = next_local(), row = next_local(), y = next_local();
    const std::string at = Material::indices(whole), row_at = Material::indices(scope),
                      over = m_.range(column);
    lines_.push_back(fmt::format("{} = {}", left(x, whole), body));
    if (m_.chance(50)) {
      const std::string e = next_local();
      lines_.push_back(fmt::format("{} = max({}) {}{}", left(row, scope), over, x, at));
      lines_.push_back(fmt::format("{} = exp({}{} - {}{})", left(e, whole), x, at, row, row_at));
      lines_.push_back(fmt::format("{} = {}{} / sum({}) {}{}", left(y, whole), e, at, over, e, at));
    } else if (m_.chance(50)) {
      const std::string v = next_local();
      const std::string centred = fmt::format("({}{} - {}{})", x, at, row, row_at);
      lines_.push_back(fmt::format("{} = mean({}) {}{}", left(row, scope), over, x, at));
      lines_.push_back(fmt::format("{} = mean({}) {} * {}", left(v, scope), over, centred, centred));
      lines_.push_back(fmt::format("{} = {} * rsqrt({}{} + 0.01)", left(y, whole), centred, v, row_at));
    } else {
      lines_.push_back(fmt::format("{} = mean({}) {}{} * {}{}", left(row, scope), over, x, at, x, at));
      lines_.push_back(fmt::format("{} = {}{} * rsqrt({}{} + 0.01)", left(y, whole), x, at, row, row_at));
    }
    m_.add_tensor(y, DType::f32, whole);
  }

  void define_result() {
    const Scope scope = m_.variables(m_.pick(0, 9) == 0 ? 1 : m_.pick(1, 3));
    const std::string name = fmt::format("y{}", results_.size());
    if (m_.chance(15)) {
      const DType dtype = m_.integer_type();
      lines_.push_back(fmt::format("{} = {}", left(name, scope), expressions_.integer(scope, m_.pick(1, 2))));
      results_.push_back(fmt::format("{}: {}[{}]", name, core::dtype_name(dtype), m_.shape(scope)));
      return;
    }
    const DType dtype = m_.chance(50) ? DType::f32 : m_.float_type();
    lines_.push_back(fmt::format("{} = {}", left(name, scope), value(scope)));
    results_.push_back(fmt::format("{}: {}[{}]", name, core::dtype_name(dtype), m_.shape(scope)));
  }

  Material m_;
  Expressions expressions_;
  int locals_ = 0;
  std::vector<std::string> results_, lines_;
};

}  // namespace

RandomProgram random_program(std::uint64_t seed) { return Definitions(seed).generate(); }

std::string check_random_program(std::uint64_t seed, const RunCase& run) {
  const RandomProgram program = random_program(seed);
  const auto failure = [&](const std::string& what) {
    return fmt::format("seed {}: {}\n{}", seed, what, program.source);
  };
  const core::Result<Call> call = make_call(program.source, "f", {}, program.arguments);
  if (!call.ok()) return failure(call.error().message);
  const std::string difference = difference_from_reference(*call, run);
  return difference.empty() ? "" : failure(difference);
}

}  // namespace einkern::testing
