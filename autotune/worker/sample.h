// Which points a sampled reference computes.
#pragma once

#include <cstdint>
#include <vector>

#include "autotune/messages.h"

namespace einkern::autotune::worker {

/// Row-major numbers of points of the sampling's box, ascending: along every dimension whole lines, those on
/// the edges of the box and some at random. Of a matrix: its first and last row and column, and more of both.
std::vector<std::int64_t> sampled_points(const Sampling& sampling);

}  // namespace einkern::autotune::worker
