#include "widelimit/certificate/network/layer_norm_range.hpp"

#include <algorithm>

namespace widelimit {

namespace {

struct Spread {
  double mean = 0;
  double mean_error = 0;     ///< of rounding
  double deviation_low = 0;  ///< of σ over the enclosure; 0 where it may vanish
  double deviation_high = 0;
  double mean_radius = 0;  ///< Σ r/C, upwards
};

/// All sums have C terms: g bounds their relative errors, and the error of a difference from the mean enters σ by at
/// most its largest value.
Spread spread_of(const double* centre, const double* radius, Index channels, double g) {
  const auto count = static_cast<double>(channels);
  Spread s;
  double size = 0;
  double square = 0;
  double radius_square = 0;
  for (Index c = 0; c < channels; ++c) {
    s.mean += centre[c] / count;
    size += std::abs(centre[c]) / count;
    s.mean_radius += radius[c] / count;
    radius_square += radius[c] * radius[c] / count;
  }
  s.mean_error = 2 * g * size + underflow;
  s.mean_radius = s.mean_radius * (1 + 2 * g) + underflow;
  for (Index c = 0; c < channels; ++c) square += (centre[c] - s.mean) * (centre[c] - s.mean) / count;
  const double deviation = std::sqrt(square);
  // The root of what underflow may take from a sum of squares.
  constexpr double lost = 0x1p-490;
  const double reach = std::sqrt(radius_square) * (1 + 2 * g) + s.mean_error + 2 * g * deviation + lost;
  s.deviation_low = rounded_down(deviation - reach);
  s.deviation_high = rounded_up(deviation + reach);
  return s;
}

/// The least and largest n/σ.
Ends quotient(Ends n, const Spread& s) {
  const double low = n.low / (n.low >= 0 ? s.deviation_high : s.deviation_low);
  const double high = n.high / (n.high >= 0 ? s.deviation_low : s.deviation_high);
  return {rounded_down(low), rounded_up(high)};
}

}  // namespace

void enclose_layer_norm(Enclosure& values) {
  const Index channels = values.centre.shape().channels;
  const double g = summation_error(channels);
  const auto count = static_cast<double>(channels);
  const double most = rounded_up(std::sqrt(count - 1));
  for (Index row = 0; row < values.centre.rows(); ++row) {
    double* centre = values.centre.data() + row * channels;
    double* radius = values.radius.data() + row * channels;
    const Spread s = spread_of(centre, radius, channels, g);
    for (Index c = 0; c < channels; ++c) {
      const double others = std::max(0.0, s.mean_radius - rounded_down(radius[c] / count));
      const double reach = radius[c] * (1 - 1 / count) * (1 + 2 * g) + others + s.mean_error;
      Ends y{-most, most};
      if (s.deviation_low > 0) {
        const Ends exact = quotient(ends_of(centre[c] - s.mean, reach * (1 + 2 * g)), s);
        y = {std::max(exact.low, -most), std::min(exact.high, most)};
      }
      set_ends(y.low, y.high, centre[c], radius[c]);
    }
  }
}

}  // namespace widelimit
