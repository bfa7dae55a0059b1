// Tensor maps from a launch plan to the driver, on the fake: what is encoded when, where it lies among the
// arguments, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "tests/fakes/fake_gpu.h"

namespace einkern::runtime::cuda {
namespace {

using namespace core;
using testing::ElementsAre;
using testing::HasSubstr;

SizeExpression dim(const char* name) { return SizeExpression::symbol(name); }

/// 64 x 128 boxes of the matrix x, M rows of K bf16 that lie `x.stride.0` elements apart.
TensorMapArgument matrix_map() {
  return {0,
          dim("offset"),
          DType::bf16,
          {{dim("K"), 0, 64}, {dim("M"), dim("x.stride.0") * 2, 128}},
          Swizzle::span_128,
          L2Promotion::bytes_256};
}

class TensorMapLaunch : public testing::Test {
 protected:
  TensorMapLaunch() : state_(reset_fake_driver()), gpu_(open_fake_gpu()) {
    symbols_ = {{"M", 300}, {"K", 4096}, {"x.stride.0", 4096}, {"offset", 0}};
  }

  /// A launch of the kernel "k" with these arguments, each of so many bytes: "8,128,".
  Result<std::shared_ptr<const PreparedLaunch>> prepare(std::vector<Argument> arguments,
                                                        const std::string& sizes) {
    LaunchPlan plan;
    plan.buffers = {{"x", BufferKind::input, DType::bf16, 0, 16, false},
                    {"partial", BufferKind::scratch, DType::bf16, 4096, 256, false}};
    KernelStep kernel;
    kernel.entry = "k";
    kernel.arguments = std::move(arguments);
    plan.steps = {kernel};
    Artifact artifact;
    artifact.code = "kernel k " + sizes + " 32 0\n";
    artifact.entries["k"] = {};
    const std::vector<std::shared_ptr<const Module>> modules = {gpu_->load(artifact).value()};
    return gpu_->prepare(plan, modules, symbols_);
  }
  /// What the driver is given for one map in a launch with x at `address`.
  fakes::FakeTensorMap encoded(const TensorMapArgument& map, Address address = 4096) {
    const auto prepared = prepare({map}, "128,");
    if (!prepared.ok()) {
      ADD_FAILURE() << prepared.error().message;
      return {};
    }
    const Address buffers[] = {address, 0};
    const auto launched = (*prepared)->launch({buffers, {}, {1 << 20, true}}, {});
    EXPECT_TRUE(launched.ok()) << launched.error().message;
    return state_.tensor_maps.back();
  }
  std::string refusal(const TensorMapArgument& map) {
    const auto prepared = prepare({map}, "128,");
    if (prepared.ok()) return "it was prepared";
    EXPECT_EQ(prepared.error().kind, ErrorKind::device);
    return prepared.error().message;
  }

  fakes::FakeDriverState& state_;
  std::shared_ptr<GpuDevice> gpu_;
  SymbolValues symbols_;
};

TEST_F(TensorMapLaunch, GivesTheDriverWhatThePlanSays) {
  symbols_["offset"] = 64;
  const fakes::FakeTensorMap map = encoded(matrix_map());
  EXPECT_EQ(map.type, tensor_map_bf16);
  EXPECT_EQ(map.address, 4096u + 64u);
  EXPECT_THAT(map.sizes, ElementsAre(4096, 300));
  EXPECT_THAT(map.byte_strides, ElementsAre(8192));
  EXPECT_THAT(map.box, ElementsAre(64, 128));
  EXPECT_THAT(map.element_strides, ElementsAre(1, 1));
  EXPECT_EQ(map.interleave, interleave_none);
  EXPECT_EQ(map.swizzle, swizzle_128);
  EXPECT_EQ(map.promotion, promotion_256);
  EXPECT_EQ(map.fill, fill_zeros);
}

TEST_F(TensorMapLaunch, EncodesFiveDimsOfEveryType) {
  struct Case {
    DType dtype;
    TensorMapType type;
  };
  const Case cases[] = {
      {DType::boolean, tensor_map_u8}, {DType::i8, tensor_map_u8},   {DType::f8e4m3, tensor_map_u8},
      {DType::f8e5m2, tensor_map_u8},  {DType::u16, tensor_map_u16}, {DType::f16, tensor_map_f16},
      {DType::i32, tensor_map_i32},    {DType::u32, tensor_map_u32}, {DType::f32, tensor_map_f32},
      {DType::i64, tensor_map_i64},    {DType::u64, tensor_map_u64}, {DType::f64, tensor_map_f64}};
  for (const Case& c : cases) {
    TensorMapArgument map = matrix_map();
    map.dtype = c.dtype;
    map.swizzle = Swizzle::span_32;
    map.promotion = L2Promotion::bytes_64;
    map.dims = {{dim("K"), 0, 16u / static_cast<unsigned>(size_bytes(c.dtype))},
                {2, 65536, 1},
                {3, 48, 2, 2},
                {4, 16, 3},
                {5, std::int64_t{1} << 39, 4, 8}};
    const fakes::FakeTensorMap encoded_map = encoded(map);
    EXPECT_EQ(encoded_map.type, c.type) << dtype_name(c.dtype);
    EXPECT_THAT(encoded_map.sizes, ElementsAre(4096, 2, 3, 4, 5));
    EXPECT_THAT(encoded_map.byte_strides, ElementsAre(65536, 48, 16, std::uint64_t{1} << 39));
    EXPECT_THAT(encoded_map.element_strides, ElementsAre(1, 1, 2, 1, 8));
    EXPECT_EQ(encoded_map.swizzle, swizzle_32);
    EXPECT_EQ(encoded_map.promotion, promotion_64);
  }
}

TEST_F(TensorMapLaunch, PromotesReadsTo256BytesOnlyOnWholeLines) {
  EXPECT_EQ(encoded(matrix_map()).promotion, promotion_256);
  symbols_["x.stride.0"] = 4104;
  EXPECT_EQ(encoded(matrix_map()).promotion, promotion_128);
  TensorMapArgument map = matrix_map();
  map.promotion = L2Promotion::bytes_64;
  EXPECT_EQ(encoded(map).promotion, promotion_64);
  map.promotion = L2Promotion::none;
  EXPECT_EQ(encoded(map).promotion, promotion_none);
}

TEST_F(TensorMapLaunch, LiesAlignedAmongTheArguments) {
  const auto prepared = prepare({PointerArgument{0, 0}, matrix_map(), SizeArgument{dim("M"), 4}, matrix_map(),
                                 matrix_map(), SizeArgument{dim("K"), 8}},
                                "8,128,4,128,128,8,");
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  const Address buffers[] = {4096, 0};
  ASSERT_TRUE((*prepared)->launch({buffers, {}, {1 << 20, true}}, {}).ok());
  ASSERT_EQ(state_.launches.size(), 1u);
  const auto words_of = [](std::uint64_t number) {
    const std::array<std::uint64_t, 16> words = {number, number, number, number, number, number,
                                                 number, number, number, number, number, number,
                                                 number, number, number, number};
    return std::string(reinterpret_cast<const char*>(words.data()), sizeof words);
  };
  const std::vector<std::string>& bytes = state_.launches[0].parameter_bytes;
  EXPECT_EQ(state_.launches[0].parameters[0], 4096u);
  EXPECT_EQ(bytes[1], words_of(1));
  EXPECT_EQ(state_.launches[0].parameters[2], 300u);
  EXPECT_EQ(bytes[3], words_of(2));
  EXPECT_EQ(bytes[4], words_of(3));
  EXPECT_EQ(state_.launches[0].parameters[5], 4096u);
}

TEST_F(TensorMapLaunch, IsEncodedForThePointersOfEachLaunch) {
  TensorMapArgument scratch = matrix_map();
  scratch.buffer = 1;
  const auto prepared = prepare({matrix_map(), scratch}, "128,128,");
  ASSERT_TRUE(prepared.ok());
  EXPECT_TRUE(state_.tensor_maps.empty());
  for (const Address address : {Address{4096}, Address{8192}}) {
    const Address buffers[] = {address, 0};
    ASSERT_TRUE((*prepared)->launch({buffers, {}, {address << 8, true}}, {}).ok());
    EXPECT_EQ(state_.tensor_maps[state_.tensor_maps.size() - 2].address, address);
    EXPECT_EQ(state_.tensor_maps.back().address, address << 8);
  }
}

TEST_F(TensorMapLaunch, StaysZeroWhereThereIsNothingToMap) {
  symbols_["K"] = 0;
  const auto prepared = prepare({matrix_map(), SizeArgument{dim("M"), 4}}, "128,4,");
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  const Address buffers[] = {1, 0};  // nothing is there: any address will do
  ASSERT_TRUE((*prepared)->launch({buffers, {}, {1 << 20, true}}, {}).ok());
  EXPECT_TRUE(state_.tensor_maps.empty());
  EXPECT_EQ(state_.launches[0].parameter_bytes[0], std::string(128, '\0'));
}

TEST_F(TensorMapLaunch, IgnoresTheStrideOfASingleElement) {
  symbols_["M"] = 1;
  symbols_["K"] = 100;
  symbols_["x.stride.0"] = -3;
  EXPECT_THAT(encoded(matrix_map()).byte_strides, ElementsAre(208));
  TensorMapArgument map = matrix_map();
  map.dims = {{std::int64_t{1} << 32, 0, 8}, {1000, std::int64_t{1} << 30, 1}, {1, 7, 1}, {1, 9, 1}};
  EXPECT_THAT(encoded(map).byte_strides, ElementsAre(1 << 30, 1000LL << 30, 1000LL << 30))
      << "the extent of what is below";
  map.dims[1].size = 4096;
  EXPECT_THAT(encoded(map).byte_strides, ElementsAre(1 << 30, (1LL << 40) - 16, (1LL << 40) - 16))
      << "which has a limit";
}

TEST_F(TensorMapLaunch, RefusesSizesAndStridesThatTheEngineCannotAddress) {
  symbols_["x.stride.0"] = 4097;
  EXPECT_THAT(
      refusal(matrix_map()),
      HasSubstr("the tensor 'x': dim 1 (counted from the innermost) has a stride of 8194 bytes, which "
                "must be a multiple of 16 from 0 to below 2^40"));
  symbols_["x.stride.0"] = -4096;
  EXPECT_THAT(refusal(matrix_map()), HasSubstr("a stride of -8192 bytes"));
  symbols_["x.stride.0"] = std::int64_t{1} << 39;
  EXPECT_THAT(refusal(matrix_map()), HasSubstr("a stride of 1099511627776 bytes"));
  symbols_["x.stride.0"] = 4096;
  symbols_["K"] = (std::int64_t{1} << 32) + 1;
  EXPECT_THAT(refusal(matrix_map()), HasSubstr("dim 0 (counted from the innermost) has 4294967297 elements"));
  symbols_["K"] = -1;
  EXPECT_THAT(refusal(matrix_map()), HasSubstr("has -1 elements"));
}

TEST_F(TensorMapLaunch, RefusesAMapThatBreaksTheRulesOfBoxes) {
  TensorMapArgument map = matrix_map();
  map.dims[0].box = 128;
  const auto prepared = prepare({map}, "128,");
  ASSERT_FALSE(prepared.ok());
  EXPECT_THAT(prepared.error().message, HasSubstr("256 bytes, and a swizzle of 128 allows 128"));
}

TEST_F(TensorMapLaunch, RefusesAMisalignedAddress) {
  const auto prepared = prepare({matrix_map()}, "128,");
  ASSERT_TRUE(prepared.ok());
  const Address buffers[] = {4104, 0};
  const auto launched = (*prepared)->launch({buffers, {}, {1 << 20, true}}, {});
  ASSERT_FALSE(launched.ok());
  EXPECT_EQ(launched.error().kind, ErrorKind::device);
  EXPECT_THAT(launched.error().message,
              HasSubstr("the tensor 'x': it begins at 0x1008, which must be a multiple of 16 bytes"));
  EXPECT_TRUE(state_.launches.empty());
}

TEST_F(TensorMapLaunch, TellsWhatTheDriverWouldNotEncode) {
  state_.failures["cuTensorMapEncodeTiled"] = error_invalid_value;
  const auto prepared = prepare({matrix_map()}, "128,");
  ASSERT_TRUE(prepared.ok());
  const Address buffers[] = {4096, 0};
  const auto launched = (*prepared)->launch({buffers, {}, {1 << 20, true}}, {});
  ASSERT_FALSE(launched.ok());
  EXPECT_EQ(launched.error().kind, ErrorKind::device);
  EXPECT_THAT(launched.error().message,
              HasSubstr("making a tensor map of 'x' at 0x1000 (from the innermost dim: sizes 4096 x 300, "
                        "strides 8192 bytes, box 64 x 128)"));
  EXPECT_TRUE(state_.launches.empty());
}

TEST_F(TensorMapLaunch, RefusesDevicesWithoutTheEngine) {
  state_.compute_major = 8;
  gpu_ = open_fake_gpu();
  EXPECT_THAT(refusal(matrix_map()), HasSubstr("takes tensor maps, which sm_80 does not have"));
}

}  // namespace
}  // namespace einkern::runtime::cuda
