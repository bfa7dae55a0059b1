// Program: signatures, generic types, instances.
#include "dsl/program.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/dsl/checked.h"

namespace einkern {
namespace {

using testing::Compiled;

const char* const linear =
    "# y = x w\nfn linear<T: f16 | bf16 | f32>(x: T[M, K], w: T[K, 2 * N], s: f32 = 1, D: dim) -> y: T[M, 2 "
    "* N] {\n"
    "  y[i, j] = s * D * sum(k) x[i, k] * w[k, j]\n}\n";
const char* const scale =
    "# Scales.\nfn scale<T: float, Q: i8 | f8e4m3>(x: T[N], n: Q) -> y: T[N], q: Q[N] {\n"
    "  y[i] = x[i] * n; q[i] = Q(x[i]) }\n";

TEST(Program, ReportsSignatures) {
  const Compiled compiled(scale);
  ASSERT_TRUE(compiled.program) << compiled.messages();
  const dsl::Signature& signature = *compiled.program->find("scale");
  EXPECT_EQ(signature.text, "fn scale<T: float, Q: i8 | f8e4m3>(x: T[N], n: Q) -> y: T[N], q: Q[N]");
  EXPECT_EQ(signature.documentation, "Scales.");
  ASSERT_EQ(signature.generics.size(), 2u);
  EXPECT_EQ(signature.generics[0].second.size(), 6u);
  EXPECT_EQ(signature.generics[1].second, (std::vector<DType>{DType::i8, DType::f8e4m3}));
  ASSERT_EQ(signature.parameters.size(), 2u);
  EXPECT_EQ(signature.parameters[0].kind, dsl::SignatureItem::Kind::tensor);
  EXPECT_EQ(signature.parameters[0].shape, std::vector<std::string>{"N"});
  EXPECT_EQ(signature.parameters[1].kind, dsl::SignatureItem::Kind::scalar);
  EXPECT_EQ(signature.parameters[1].generic, "Q");
  EXPECT_EQ(signature.results[1].generic, "Q");
  EXPECT_EQ(compiled.program->find("nothing"), nullptr);
}

TEST(Program, SetsOfTypes) {
  const Compiled compiled(
      "fn f<A: any, F: float, I: int>(a: A[N], f: F[N], i: I[N]) -> y: A[N] { y[n] = a[n] }");
  ASSERT_TRUE(compiled.program) << compiled.messages();
  const auto& generics = compiled.program->signatures()[0].generics;
  EXPECT_EQ(generics[0].second.size(), 15u);
  EXPECT_EQ(generics[1].second.size(), 6u);
  EXPECT_EQ(generics[2].second.size(), 8u);
}

TEST(Program, DeducesTypes) {
  const Compiled compiled(scale);
  const dsl::Signature& signature = compiled.program->signatures()[0];
  const auto deduce = [&](std::vector<std::optional<DType>> arguments, dsl::TypeBinding given) {
    const auto types = compiled.program->deduce(signature, arguments, given);
    if (!types.ok()) return types.error().message;
    std::string text;
    for (const auto& [name, type] : *types) text += name + "=" + std::string(core::dtype_name(type)) + " ";
    return text;
  };
  EXPECT_EQ(deduce({DType::bf16, DType::i8}, {}), "Q=i8 T=bf16 ");
  EXPECT_EQ(deduce({DType::bf16, std::nullopt}, {{"Q", DType::f8e4m3}}), "Q=f8e4m3 T=bf16 ");
  EXPECT_EQ(deduce({DType::bf16}, {}),
            "no argument tells type Q of 'scale': set it, .with(\"Q\", ek::f8e4m3) or --type Q=f8e4m3");
  EXPECT_EQ(deduce({DType::bf16, DType::i8}, {{"T", DType::f32}}),
            "type T of 'scale' is f32, but argument 'x' holds bf16");
  EXPECT_EQ(deduce({DType::i32, DType::i8}, {}),
            "type T of 'scale' may be f8e4m3, f8e5m2, f16, bf16, f32, f64, not i32");
  EXPECT_EQ(deduce({DType::bf16, DType::i8}, {{"Z", DType::f32}}), "'scale' has no type parameter Z");
}

TEST(Program, InstantiatesOnceForTheSameTypesFromManyThreads) {
  const Compiled compiled(linear);
  ASSERT_FALSE(compiled.program);  // D stands after a default
  const Compiled fixed(std::string("fn f<T: float>(x: T[N], s: f32 = 1) -> y: T[N] { y[i] = s * x[i] }"));
  ASSERT_TRUE(fixed.program) << fixed.messages();
  std::vector<std::shared_ptr<const dsl::Function>> instances(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < instances.size(); ++i)
    threads.emplace_back(
        [&, i] { instances[i] = fixed.function("f", {{"T", i % 2 ? DType::f16 : DType::f64}}); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 2; i < instances.size(); ++i) EXPECT_EQ(instances[i], instances[i - 2]);
  EXPECT_NE(instances[0], instances[1]);
  EXPECT_EQ((*instances[1])[instances[1]->results[0]].dtype, DType::f16);
}

TEST(Program, RefusesTypesThatAreNotAllowed) {
  const Compiled compiled(scale);
  const auto message = [&](std::string_view name, dsl::TypeBinding types) {
    const auto instance = compiled.program->instantiate(name, types);
    return instance.ok() ? std::string("fine") : instance.error().message;
  };
  EXPECT_EQ(message("nothing", {}), "there is no function 'nothing'");
  EXPECT_EQ(message("scale", {{"T", DType::f32}, {"Q", DType::i16}}),
            "type Q of 'scale' may be i8, f8e4m3, not i16");
  EXPECT_EQ(message("scale", {{"T", DType::f32}, {"Q", DType::i8}}), "fine");
}

TEST(Program, AGenericFunctionIsCheckedForEachComputeType) {
  const Compiled compiled("fn f<T: float | int>(x: T[N]) -> y: T[N] { y[i] = x[i] & 1 }");
  EXPECT_FALSE(compiled.program);
  ASSERT_EQ(compiled.diagnostics.error_count(), 1);
  EXPECT_EQ(compiled.diagnostics.all()[0].notes[0].message, "with T = f8e4m3");
  EXPECT_TRUE(Compiled("fn f<T: int>(x: T[N]) -> y: T[N] { y[i] = x[i] & 1 }").program);
}

TEST(Program, TakesSeveralSources) {
  dsl::SourceSet sources;
  sources.add("a.ein", "fn f(x: f32[N]) -> y: f32[N] { y = g(x) }");
  sources.add("b.ein", "fn g(x: f32[N]) -> y: f32[N] { y[i] = 2 * x[i] }");
  dsl::DiagnosticBag diagnostics;
  const auto program = dsl::Program::compile(sources, diagnostics);
  ASSERT_TRUE(program) << dsl::render_text(sources, diagnostics);
  EXPECT_EQ(program->signatures().size(), 2u);
}

}  // namespace
}  // namespace einkern
