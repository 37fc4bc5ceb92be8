#include "widelimit/analysis/bounds/label_bound.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

LabelBound label_bound(const GramMatrix& h, std::span<const double> y, const LabelBoundOptions& options) {
  const BoundSetting setting{.lipschitz = 1, .range = 1, .delta = options.delta};
  setting.validate();
  LabelBound bound{.norm = interpolant_norm(h, y, options.progress),
                   .samples = std::ssize(y),
                   .trace = 0,
                   .delta = options.delta,
                   .a_priori = {},
                   .scaled = {},
                   .absolute = {},
                   .uniform = {}};
  for (const double own : h.diagonal()) bound.trace += own;
  if (!bound.norm.square) return bound;
  const auto n = static_cast<double>(bound.samples);
  const FunctionSize size{.samples = bound.samples, .norm = std::sqrt(*bound.norm.square), .trace = bound.trace};
  bound.a_priori = std::sqrt(2 / n) * size.norm;
  bound.scaled = fixed_norm_bound(size, 0, setting).complexity;
  bound.absolute = *bound.scaled + std::sqrt(-std::log(options.delta) / n);
  // f interpolates: its loss on the sample is 0. Of ±1, s·f has the ramp loss max(0, 1 − s) everywhere.
  const bool signs = std::all_of(y.begin(), y.end(), [](double value) { return std::fabs(value) == 1; });
  bound.uniform = uniform_bound(
      size, [](double scale) { return std::max(0.0, 1 - scale); }, signs, setting);
  return bound;
}

}  // namespace widelimit
