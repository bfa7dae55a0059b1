#include "core/launch_plan.h"

#include <gtest/gtest.h>

#include <tuple>

namespace einkern::core {
namespace {

SizeExpression dim(const char* name) { return SizeExpression::symbol(name); }

/// 64 x 128 boxes of a bf16 matrix of M rows and K columns.
TensorMapArgument sample_map() {
  return {0,
          dim("N") * 32,
          DType::bf16,
          {{dim("K"), 0, 64}, {dim("M"), dim("x.stride.0") * 2, 128, 2}},
          Swizzle::span_128,
          L2Promotion::bytes_64};
}

LaunchPlan sample_plan() {
  LaunchPlan plan;
  plan.buffers = {{"x", BufferKind::input, DType::bf16, 0, 16, false},
                  {"partial", BufferKind::scratch, DType::f32, dim("M") * 4, 256, false},
                  {"tickets", BufferKind::counter, DType::u32, 4, 4, true},
                  {"y", BufferKind::output, DType::f32, 0, 16, false}};
  plan.scalars = {{"scale", DType::f32}};
  KernelStep kernel;
  kernel.entry = "ek_sum_row_0123abcd";
  kernel.grid = {ceil_divide(dim("M"), 128), 1, dim("sm_count")};
  kernel.block = {256, 1, 1};
  kernel.cluster = {2, 1, 1};
  kernel.shared_bytes = 4096;
  kernel.cooperative = true;
  kernel.arguments = {PointerArgument{0, dim("M") * 2}, PointerArgument{3, 0},
                      SizeArgument{dim("M"), 4},        ScalarArgument{0},
                      DivisorArgument{dim("N")},        sample_map()};
  plan.steps = {FillStep{2, 4, 255}, kernel,
                CpuStep{"ek_sum_cpu", dim("M"), 16, 64, {SizeArgument{dim("N"), 8}}}};
  return plan;
}

TEST(LaunchPlan, ReadsItsJsonBack) {
  const std::string text = sample_plan().to_json();
  const auto plan = LaunchPlan::from_json(text);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->to_json(), text);
  ASSERT_EQ(plan->steps.size(), 3u);
  const auto& kernel = std::get<KernelStep>(plan->steps[1]);
  EXPECT_EQ(kernel.grid[0].text(), "ceil_div(M, 128)");
  EXPECT_TRUE(kernel.cooperative);
  EXPECT_EQ(std::get<PointerArgument>(kernel.arguments[0]).byte_offset.text(), "M * 2");
  const auto& map = std::get<TensorMapArgument>(kernel.arguments.back());
  EXPECT_EQ(map.buffer, 0);
  EXPECT_EQ(map.byte_offset.text(), "N * 32");
  EXPECT_EQ(map.dtype, DType::bf16);
  ASSERT_EQ(map.dims.size(), 2u);
  EXPECT_EQ(map.dims[0].size.text(), "K");
  EXPECT_EQ(map.dims[0].box, 64u);
  EXPECT_EQ(map.dims[1].byte_stride.text(), "x.stride.0 * 2");
  EXPECT_EQ(map.dims[1].element_stride, 2u);
  EXPECT_EQ(map.swizzle, Swizzle::span_128);
  EXPECT_EQ(map.promotion, L2Promotion::bytes_64);
  EXPECT_EQ(std::get<FillStep>(plan->steps[0]).byte, 255);
  EXPECT_EQ(std::get<CpuStep>(plan->steps[2]).scratch_bytes.text(), "64");
  EXPECT_TRUE(plan->buffers[2].zero_on_creation);
  EXPECT_EQ(plan->buffers[1].kind, BufferKind::scratch);
  EXPECT_EQ(plan->scalars[0].name, "scale");
}

TEST(LaunchPlan, RefusesEveryTruncation) {
  const std::string text = sample_plan().to_json();
  for (std::size_t length = 0; length < text.size(); ++length)
    ASSERT_FALSE(LaunchPlan::from_json(std::string_view(text).substr(0, length)).ok()) << length;
}

TEST(LaunchPlan, RefusesWhatCannotBeLaunched) {
  const std::string text = sample_plan().to_json();
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return changed.replace(at, from.size(), to);
  };
  for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
           {"\"pointer\":0", "\"pointer\":4"},
           {"\"pointer\":0", "\"pointer\":-1"},
           {"\"pointer\":0", "\"pointer\":\"x\""},
           {"\"scalar\":0", "\"scalar\":1"},
           {"\"bytes\":4,\"size\"", "\"bytes\":3,\"size\""},
           {"\"bf16\"", "\"bf17\""},
           {"\"alignment\":16", "\"alignment\":24"},
           {"\"alignment\":16", "\"alignment\":0"},
           {"\"scratch\"", "\"scrap\""},
           {"\"step\":\"fill\"", "\"step\":\"drain\""},
           {"[\"256\",\"1\",\"1\"]", "[\"256\",\"1\"]"},
           {"ceil_div(M, 128)", "ceil_div(M, "},
           {"\"tensor_map\":0", "\"tensor_map\":4"},
           {"\"swizzle\":128", "\"swizzle\":96"},
           {"\"swizzle\":128", "\"swizzle\":64"},  // a row of the box has 128 bytes
           {"\"swizzle\":128", "\"swizzle\":null"},
           {"\"promotion\":64", "\"promotion\":512"},
           {"\"promotion\":64,", ""},
           {"\"box\":64", "\"box\":0"},
           {"\"box\":64", "\"box\":-64"},
           {"\"box\":64", "\"box\":4294967360"},
           {"\"box\":64", "\"box\":60"},  // 120 bytes
           {"\"box\":128", "\"box\":257"},
           {"\"element_stride\":2", "\"element_stride\":9"},
           {"\"element_stride\":2", "\"element_stride\":0"},
           {"\"element_stride\":1", "\"element_stride\":2"},
           {"x.stride.0 * 2", "x.stride.0 *"},
           {"\"buffers\"", "\"buffer_list\""}}) {
    const auto plan = LaunchPlan::from_json(replaced(from, to));
    ASSERT_FALSE(plan.ok()) << from << " -> " << to;
    EXPECT_NE(plan.error().message.find("launch plan"), std::string::npos);
  }
  EXPECT_FALSE(LaunchPlan::from_json(std::string(100000, '[')).ok());
}

TEST(LaunchPlan, GivesNoTensorMapToALoopOnACpu) {
  LaunchPlan plan;
  plan.buffers = {{"x", BufferKind::input, DType::bf16, 0, 16, false}};
  plan.steps = {CpuStep{"loop", 1, 1, 0, {sample_map()}}};
  EXPECT_FALSE(LaunchPlan::from_json(plan.to_json()).ok());
}

TEST(TensorMap, HasOneToFiveDims) {
  TensorMapArgument map = sample_map();
  map.dims.resize(5);
  EXPECT_TRUE(check_tensor_map(map).ok());
  map.dims.resize(6);
  EXPECT_NE(check_tensor_map(map).error().message.find("6 dims and can have 1 to 5"), std::string::npos);
  map.dims.clear();
  EXPECT_FALSE(check_tensor_map(map).ok());
}

TEST(TensorMap, HasBoxesThatFitTheirSwizzle) {
  TensorMapArgument map = sample_map();
  for (const auto& [dtype, box, fits] :
       std::initializer_list<std::tuple<DType, std::uint32_t, bool>>{{DType::f8e4m3, 128, true},
                                                                     {DType::f8e4m3, 144, false},
                                                                     {DType::f8e4m3, 120, false},
                                                                     {DType::f32, 32, true},
                                                                     {DType::f32, 36, false},
                                                                     {DType::f64, 16, true},
                                                                     {DType::f64, 1, false}}) {
    map.dtype = dtype;
    map.dims[0].box = box;
    EXPECT_EQ(check_tensor_map(map).ok(), fits) << dtype_name(dtype) << ' ' << box;
  }
  map.swizzle = Swizzle::none;
  map.dtype = DType::f32;
  map.dims[0].box = 256;
  EXPECT_TRUE(check_tensor_map(map).ok());
}

TEST(LaunchPlan, AppendsByName) {
  LaunchPlan first;
  first.buffers = {{"x", BufferKind::input, DType::f32, 0, 16, false},
                   {"t", BufferKind::scratch, DType::f32, dim("M"), 16, false}};
  first.scalars = {{"a", DType::f32}};
  first.steps = {FillStep{1, 4, 0}};
  LaunchPlan second;
  second.buffers = {{"y", BufferKind::output, DType::f32, 0, 16, false},
                    {"t", BufferKind::scratch, DType::f32, dim("N"), 128, true},
                    {"x", BufferKind::output, DType::f32, 0, 4, false}};
  second.scalars = {{"b", DType::f32}, {"a", DType::f32}};
  KernelStep kernel;
  kernel.entry = "k";
  kernel.arguments = {PointerArgument{0, 0}, PointerArgument{1, 0}, PointerArgument{2, 0},
                      ScalarArgument{0},     ScalarArgument{1},     sample_map()};
  second.steps = {kernel, FillStep{1, 8, 1}};

  first.append(second);
  ASSERT_EQ(first.buffers.size(), 3u);
  EXPECT_EQ(first.buffers[0].kind, BufferKind::inout);
  EXPECT_EQ(first.buffers[1].bytes.text(), "max(M, N)");
  EXPECT_EQ(first.buffers[1].alignment, 128);
  EXPECT_TRUE(first.buffers[1].zero_on_creation);
  EXPECT_EQ(first.buffers[2].name, "y");
  ASSERT_EQ(first.scalars.size(), 2u);
  const auto& arguments = std::get<KernelStep>(first.steps[1]).arguments;
  EXPECT_EQ(std::get<PointerArgument>(arguments[0]).buffer, 2);
  EXPECT_EQ(std::get<PointerArgument>(arguments[1]).buffer, 1);
  EXPECT_EQ(std::get<PointerArgument>(arguments[2]).buffer, 0);
  EXPECT_EQ(std::get<ScalarArgument>(arguments[3]).scalar, 1);
  EXPECT_EQ(std::get<ScalarArgument>(arguments[4]).scalar, 0);
  EXPECT_EQ(std::get<TensorMapArgument>(arguments[5]).buffer, 2);
  EXPECT_EQ(std::get<FillStep>(first.steps[2]).buffer, 1);
}

}  // namespace
}  // namespace einkern::core
