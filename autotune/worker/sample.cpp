#include "autotune/worker/sample.h"

#include <algorithm>

#include "autotune/element_rule.h"

namespace einkern::autotune::worker {
namespace {

/// Of a box of very many dimensions not every edge is walked: this many lines along each dimension.
constexpr std::uint64_t most_edges = 16, random_lines = 8;

}  // namespace

std::vector<std::int64_t> sampled_points(const Sampling& sampling) {
  const std::vector<std::int64_t>& extents = sampling.extents;
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  std::vector<std::int64_t> points;
  std::uint64_t state = sampling.seed;
  const auto add_line = [&](std::size_t along, std::int64_t start) {
    for (std::int64_t i = 0; i < extents[along]; ++i) points.push_back(start + i * strides[along]);
  };
  for (std::size_t along = 0; along < extents.size(); ++along) {
    if (extents[along] == 1) continue;
    const std::uint64_t edges =
        std::min(most_edges, std::uint64_t{1} << std::min<std::size_t>(extents.size() - 1, 8));
    for (std::uint64_t line = 0; line < edges + random_lines; ++line) {
      std::int64_t start = 0;
      std::uint64_t corner = line;  // bits: which end of every other dimension
      for (std::size_t d = 0; d < extents.size(); ++d) {
        if (d == along) continue;
        const auto extent = static_cast<std::uint64_t>(extents[d]);
        const std::uint64_t position = line >= edges     ? random_word(state++) % extent
                                       : corner % 2 == 1 ? extent - 1
                                                         : 0;
        corner /= 2;
        start += static_cast<std::int64_t>(position) * strides[d];
      }
      add_line(along, start);
    }
  }
  if (points.empty()) points.push_back(0);
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

}  // namespace einkern::autotune::worker
