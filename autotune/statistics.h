// Order statistics of timing samples, which outliers do not move.
#pragma once

#include <vector>

namespace einkern::autotune {

/// Quantile with linear interpolation; `share` in [0, 1]. 0 of no samples.
double quantile(std::vector<double> samples, double share);
double median(const std::vector<double>& samples);
/// (upper quartile - lower quartile) / median.
double spread(const std::vector<double>& samples);

}  // namespace einkern::autotune
