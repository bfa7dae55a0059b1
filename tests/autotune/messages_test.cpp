#include "autotune/messages.h"

#include <gtest/gtest.h>

namespace einkern::autotune {
namespace {

template <typename Message>
Message round_trip(const Message& message) {
  const auto decoded = decode_request(encode(Request(message)));
  EXPECT_TRUE(decoded.ok()) << (decoded.ok() ? "" : decoded.error().message);
  return std::get<Message>(*decoded);
}

TEST(Messages, AProblemArrivesWhole) {
  SetProblem message;
  message.problem.tensors = {{.name = "x",
                              .dtype = DType::bf16,
                              .kind = core::BufferKind::inout,
                              .shape = {3, 4},
                              .strides = {8, 1},
                              .first_byte = 2,
                              .index_limit = 7,
                              .seed = ~std::uint64_t{0},
                              .relative = 0.25,
                              .absolute = 1e-30}};
  message.problem.scalars = {{"scale", 0xFFFFFFFFFFFFFFFFu}};
  message.problem.symbols = {{"M", 3}, {"x.stride.0", -8}};
  message.problem.sampling = {.name = "f_0.sample", .extents = {3, 5}, .seed = 11};
  const Problem arrived = round_trip(message).problem;
  ASSERT_EQ(arrived.tensors.size(), 1u);
  const ProblemTensor& tensor = arrived.tensors[0];
  EXPECT_EQ(tensor.name, "x");
  EXPECT_EQ(tensor.dtype, DType::bf16);
  EXPECT_EQ(tensor.kind, core::BufferKind::inout);
  EXPECT_EQ(tensor.shape, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(tensor.strides, (std::vector<std::int64_t>{8, 1}));
  EXPECT_EQ(tensor.first_byte, 2);
  EXPECT_EQ(tensor.index_limit, 7);
  EXPECT_EQ(tensor.seed, ~std::uint64_t{0});
  EXPECT_EQ(tensor.relative, 0.25);
  EXPECT_EQ(tensor.absolute, 1e-30);
  EXPECT_EQ(arrived.scalars, message.problem.scalars);
  EXPECT_EQ(arrived.symbols, message.problem.symbols);
  EXPECT_EQ(arrived.sampling.name, "f_0.sample");
  EXPECT_EQ(arrived.sampling.extents, (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(arrived.sampling.seed, 11u);
}

TEST(Messages, CodeArrivesByteForByte) {
  Load message{.kernel = 5};
  message.launch.buffers = {{.name = "x", .bytes = core::SizeExpression::symbol("M") * 4}};
  message.launch.steps = {core::FillStep{0, 16, 0xFF}};
  message.artifact.format = core::CodeFormat::object;
  message.artifact.code = std::string("\0\xFF{}\"\n", 6);
  message.artifact.entries["ek_f"] = {32, 8, 16, 24, 1 << 20};
  const Load arrived = round_trip(message);
  EXPECT_EQ(arrived.kernel, 5);
  EXPECT_EQ(arrived.launch.to_json(), message.launch.to_json());
  EXPECT_EQ(arrived.artifact.format, core::CodeFormat::object);
  EXPECT_EQ(arrived.artifact.code, message.artifact.code);
  const core::EntryResources& used = arrived.artifact.entries.at("ek_f");
  EXPECT_EQ(used.registers, 32);
  EXPECT_EQ(used.spill_load_bytes, 24);
  EXPECT_EQ(used.shared_bytes, 1 << 20);
}

TEST(Messages, TheChecksArrive) {
  UseChecks message;
  message.artifact.code = std::string("\0ELF", 4);
  message.artifact.entries["ek_check_fill"] = {40};
  const UseChecks arrived = round_trip(message);
  EXPECT_EQ(arrived.artifact.code, message.artifact.code);
  EXPECT_EQ(arrived.artifact.entries.at("ek_check_fill").registers, 40);
}

TEST(Messages, SmallRequestsArrive) {
  EXPECT_EQ(round_trip(OpenDevice{"cpu", build_identity()}).build, build_identity());
  EXPECT_EQ(round_trip(Check{3, 2}).runs, 2);
  EXPECT_EQ(round_trip(RunReference{-1}).kernel, -1);
  EXPECT_EQ(round_trip(UseFlush{-2}).kernel, -2);
  const Time time = round_trip(Time{{4, 2}, 10, 99});
  EXPECT_EQ(time.kernels, (std::vector<int>{4, 2}));
  EXPECT_EQ(time.rounds, 10);
  EXPECT_EQ(time.seed, 99u);
}

TEST(Messages, AReplyArrives) {
  const Reply reply{.failure = "wrong: y[0] is \"nan\"\xFF",
                    .broken = true,
                    .seconds = 0.5,
                    .error = 1e-7,
                    .samples = {{1e-6, 2e-6}, {}}};
  const auto arrived = decode_reply(encode(reply));
  ASSERT_TRUE(arrived.ok());
  EXPECT_TRUE(arrived->failure.starts_with("wrong: y[0] is \"nan\""));
  EXPECT_TRUE(arrived->broken);
  EXPECT_EQ(arrived->seconds, 0.5);
  EXPECT_EQ(arrived->samples, reply.samples);
}

TEST(Messages, DamageIsAnError) {
  const std::string whole = encode(Request(Check{1, 2}));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(decode_request(whole.substr(0, length)).ok()) << length;
  std::string other = whole;
  other.replace(other.find("check"), 5, "chess");
  EXPECT_FALSE(decode_request(other).ok());
  EXPECT_FALSE(decode_reply(whole).ok());
  EXPECT_FALSE(decode_request(encode(Reply{})).ok());
}

}  // namespace
}  // namespace einkern::autotune
