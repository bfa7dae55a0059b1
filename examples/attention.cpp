// Causal attention of 4 query heads that share 2 heads of keys and values; 5 new tokens after 19 old ones.
#include "example.h"

constexpr int heads = 4, shared_heads = 2, queries = 5, keys = 24, width = 32;

void body(const ek::Device& device) {
  const ek::Program program = ek::compile_file(example::path("attention.ein"));
  const ek::Tensor q = ek::Tensor::random({2, heads, queries, width}, ek::f32, device, 1);
  const ek::Tensor k = ek::Tensor::random({2, shared_heads, keys, width}, ek::f32, device, 2);
  const ek::Tensor v = ek::Tensor::random({2, shared_heads, keys, width}, ek::f32, device, 3);
  const ek::Tensor o = program["attention"].on(device)(q, k, v);  // scale is 1 / sqrt(width)
  const example::Values qs(q), ks(k), vs(v);
  example::check("o", o, 1e-5, [&](const example::Index& at) {
    const auto [b, h, s, d] = std::array{at[0], at[1], at[2], at[3]};
    const std::int64_t shared_head = h / (heads / shared_heads);
    double weights = 0, sum = 0;
    for (std::int64_t t = 0; t <= s + keys - queries; ++t) {
      double score = 0;
      for (int i = 0; i < width; ++i) score += qs(b, h, s, i) * ks(b, shared_head, t, i);
      const double weight = std::exp(score / std::sqrt(width));
      weights += weight;
      sum += weight * vs(b, shared_head, t, d);
    }
    return sum / weights;
  });
}

int main(int argc, char** argv) { return example::run(argc, argv, body); }
