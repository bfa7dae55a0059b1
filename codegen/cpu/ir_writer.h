// Writes LLVM IR as text: named values in SSA form, structured loops and conditions, vectors. It links no
// LLVM.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace einkern::codegen::cpu {

/// A first-class type of LLVM: a scalar, or a vector of `lanes` of it.
struct IrType {
  enum class Kind { i1, i8, i16, i32, i64, half, bfloat, f32, f64, pointer };
  Kind kind = Kind::i64;
  int lanes = 1;

  std::string text() const;    // "float", "<16 x float>"
  std::string suffix() const;  // as intrinsics' names have it: "f32", "v16f32"
  int scalar_bytes() const;    // of one lane in memory; an i1 takes one
  bool is_float() const { return kind >= Kind::half && kind <= Kind::f64; }
  IrType scalar() const { return {kind, 1}; }
  IrType with_lanes(int count) const { return {kind, count}; }
  friend bool operator==(const IrType&, const IrType&) = default;
};

inline constexpr IrType ir_i1{IrType::Kind::i1}, ir_i8{IrType::Kind::i8}, ir_i16{IrType::Kind::i16},
    ir_i32{IrType::Kind::i32}, ir_i64{IrType::Kind::i64}, ir_f32{IrType::Kind::f32},
    ir_f64{IrType::Kind::f64}, ir_pointer{IrType::Kind::pointer};

/// A value in the text: a name ("%sum.2") or a constant.
struct IrValue {
  IrType type;
  std::string text;
  bool is_constant() const { return !text.empty() && text[0] != '%'; }
};

/// One module's text, written function by function. Names are made unique by a number; constant i64
/// arithmetic and neutral elements fold, so that the text stays readable.
class IrWriter {
 public:
  using Values = std::vector<IrValue>;

  // --- the module ---
  struct Parameter {
    IrType type;
    std::string name, attributes;
  };
  /// Writes an exported function that returns nothing; `body` gets the parameters.
  void function(std::string_view name, const std::vector<Parameter>& parameters,
                const std::function<void(const Values&)>& body);
  /// Makes sure that an internal function of that name exists; `body` gives the value it returns, if any.
  /// Callable while another function is being written.
  void helper(std::string_view name, const std::vector<Parameter>& parameters, std::optional<IrType> result,
              const std::function<std::optional<IrValue>(const Values&)>& body);
  /// Writes at the head of the current function instead of at the current place: what is defined there is
  /// known in all of the function. `write` may use only parameters and what was defined there before, and no
  /// control flow.
  IrValue in_prologue(const std::function<IrValue()>& write);
  /// A line of comment at the current place.
  void comment(std::string_view text);
  /// The module's text: exported functions, helpers in the order of their first use, declarations by name.
  std::string finish() const;

  // --- constants ---
  static IrValue integer(std::int64_t value, IrType type = ir_i64);  // also i1; of vectors only 0 and -1
  IrValue floating(double value, IrType type = ir_f32);              // a vector's is a splat
  IrValue integers(std::int64_t value, IrType type);                 // any type; a vector's is a splat
  static IrValue zero(IrType type);
  static IrValue undefined(IrType type);

  // --- arithmetic ---
  IrValue binary(std::string_view opcode, const IrValue& a, const IrValue& b, std::string_view name = "t");
  IrValue negate(const IrValue& a, std::string_view name = "t");                 // of floats: the sign bit
  IrValue add(const IrValue& a, const IrValue& b, std::string_view name = "t");  // i64, no signed wrap
  IrValue subtract(const IrValue& a, const IrValue& b, std::string_view name = "t");  // i64, no signed wrap
  IrValue multiply(const IrValue& a, const IrValue& b, std::string_view name = "t");  // i64, no signed wrap
  IrValue minimum(const IrValue& a, const IrValue& b, std::string_view name = "t");   // i64, signed
  IrValue compare(std::string_view predicate, const IrValue& a, const IrValue& b,
                  std::string_view name = "is");
  IrValue select(const IrValue& condition, const IrValue& a, const IrValue& b, std::string_view name = "t");
  IrValue cast(std::string_view opcode, const IrValue& a, IrType type, std::string_view name = "t");
  /// A call of an intrinsic or an external function, which is declared.
  IrValue call(std::string_view function, IrType result, const Values& arguments,
               std::string_view name = "t");
  void call_void(std::string_view function, const Values& arguments);
  /// A call of a helper.
  IrValue call_helper(std::string_view function, IrType result, const Values& arguments,
                      std::string_view name = "t");
  void call_helper_void(std::string_view function, const Values& arguments);

  // --- vectors ---
  IrValue splat(const IrValue& scalar, int lanes);  // the value itself if it has those lanes
  IrValue extract(const IrValue& vector, int lane, std::string_view name = "lane");
  IrValue insert(const IrValue& vector, const IrValue& scalar, int lane, std::string_view name = "lane");
  IrValue shuffle(const IrValue& a, const IrValue& b, std::span<const int> lanes,
                  std::string_view name = "shuffled");
  /// 0, 1, 2, … as a constant.
  static IrValue lane_numbers(IrType type);

  // --- memory ---
  IrValue load(IrType type, const IrValue& pointer, int alignment = 0, std::string_view name = "value");
  /// A load of memory that nothing writes while the function runs.
  IrValue load_constant(IrType type, const IrValue& pointer, int alignment = 0,
                        std::string_view name = "value");
  void store(const IrValue& value, const IrValue& pointer, int alignment = 0);
  /// The address of element `index` (i64) after `base`; a vector of indices gives a vector of addresses.
  IrValue element(const IrValue& base, const IrValue& index, IrType element_type,
                  std::string_view name = "at");

  // --- control ---
  using LoopBody = std::function<Values(const IrValue& index, const Values& carried)>;
  /// for (index = begin; index < end; index += step), carrying values: the body gets them and gives the next
  /// ones. Returns what they are after the loop.
  Values loop(std::string_view name, const IrValue& begin, const IrValue& end, const IrValue& step,
              const Values& initial, const LoopBody& body);
  /// The same with nothing carried.
  void loop(std::string_view name, const IrValue& begin, const IrValue& end, const IrValue& step,
            const std::function<void(const IrValue& index)>& body);
  void if_then(const IrValue& condition, const std::function<void()>& then);
  /// Only the chosen side runs; both give values of the same types.
  Values if_else(const IrValue& condition, const std::function<Values()>& then,
                 const std::function<Values()>& otherwise);

 private:
  struct FunctionText {
    std::string prologue, text, block;
    std::map<std::string, IrValue, std::less<>> splats;  // of constants
    std::map<std::string, int, std::less<>> counts;      // of names asked for
    std::set<std::string, std::less<>> names;            // given out
  };
  void write_function(std::string_view head, const std::vector<Parameter>& parameters,
                      const std::function<std::optional<IrValue>(const Values&)>& body, std::string& module);
  std::string fresh(std::string_view name);
  IrValue define(std::string_view name, IrType type, std::string_view right_side);
  void line(std::string_view text);
  void begin_block(const std::string& label);
  void declare(std::string_view function, const std::string& result, const Values& arguments);

  std::string exported_, helpers_;
  std::set<std::string, std::less<>> helper_names_;
  std::set<std::string> declarations_;
  FunctionText current_;
};

/// The name of an overloaded intrinsic: intrinsic("fma", f32) is "llvm.fma.f32".
std::string intrinsic(std::string_view name, IrType type);

}  // namespace einkern::codegen::cpu
