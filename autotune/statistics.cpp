#include "autotune/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace einkern::autotune {

double quantile(std::vector<double> samples, double share) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const double place = share * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] + (place - std::floor(place)) * (samples[above] - samples[below]);
}

double median(const std::vector<double>& samples) { return quantile(samples, 0.5); }

double spread(const std::vector<double>& samples) {
  const double middle = median(samples);
  return middle > 0 ? (quantile(samples, 0.75) - quantile(samples, 0.25)) / middle : 0;
}

}  // namespace einkern::autotune
