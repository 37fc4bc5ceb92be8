#pragma once

#include "widelimit/engine/enclosure/activation_range.hpp"
#include "widelimit/engine/enclosures.hpp"

#include <utility>

/// Elementwise or rowwise EnclosurePasses: a device launches them as kernels, the host runs them in loops.
/// [docs/theory/certificates-proof.md#finite-networks]
namespace widelimit::enclosing {

/// Adapts pass(row, column) over a matrix to a pass over flat indices.
template <typename Pass>
struct Cells {
  Index cols;
  Pass pass;
  WIDELIMIT_BOTH void operator()(Index i) const {
    if (i >> 32 == 0 && cols >> 32 == 0) {
      const auto number = static_cast<std::uint32_t>(i);
      const auto divisor = static_cast<std::uint32_t>(cols);
      pass(static_cast<Index>(number / divisor), static_cast<Index>(number % divisor));
    } else {
      pass(i / cols, i % cols);
    }
  }
};

template <typename T>
[[nodiscard]] WIDELIMIT_BOTH double weight_at(const WeightColumns<T>& from, Index entry) {
  const auto w = static_cast<double>(from.w[entry]);
  return from.minus == nullptr ? w : w - static_cast<double>(from.minus[entry]);
}

template <typename T, WeightMap Map>
struct TakeColumns {
  WeightColumns<T> from;
  double* to;
  WIDELIMIT_BOTH void operator()(Index row, Index col) const {
    const double w = weight_at(from, row * from.cols + from.first + col);
    to[row * from.width + col] = Map == WeightMap::itself ? w : Map == WeightMap::modulus ? std::abs(w) : w * w;
  }
};

/// Each entry of a difference has a rounding error relative to its own size, which may exceed the distance of two.
template <typename T>
struct ColumnDistances {
  WeightColumns<T> from;
  Index c;
  double* to;
  WIDELIMIT_BOTH void operator()(Index row, Index col) const {
    const double own = weight_at(from, row * from.cols + c);
    const double other = weight_at(from, row * from.cols + col);
    const double distance = std::abs(own - other);
    to[row * from.cols + col] =
        from.minus == nullptr ? distance : distance + 0x1p-51 * (std::abs(own) + std::abs(other));
  }
};

struct Widen {
  double g;
  ConstEnclosureView a;
  double* to;
  WIDELIMIT_BOTH void operator()(Index i) const {
    to[i] = (a.radius == nullptr ? 0.0 : a.radius[i]) + (g * std::abs(a.centre[i]) + underflow);
  }
};

struct RoundUp {
  double g;
  double least;
  const double* bias;
  Index cols;
  double* radius;
  WIDELIMIT_BOTH void operator()(Index row, Index col) const {
    const double beside = bias == nullptr ? 0.0 : g * std::abs(bias[col]);
    double& value = radius[row * cols + col];
    value = (value + beside) * (1 + 2 * g) + least;
  }
};

struct FirstLayerBalls {
  const Index* points;
  const double* reach;
  const double* centres;
  const double* unit;
  Index size;
  double g;
  EnclosureView to;
  WIDELIMIT_BOTH void operator()(Index row, Index col) const {
    const double z = centres[points[row] * size + col];
    to.centre[row * size + col] = z;
    to.radius[row * size + col] = (reach[row] * unit[col] + 2 * g * std::abs(z)) * (1 + 2 * g) + underflow;
  }
};

/// Inner loop of every step of a search. c ≥ r and c ≤ −r test the sign of the interval exactly: an interval of one
/// sign is kept or set to 0 without rounding, and [0, h] becomes h/2 ± h/2.
struct EncloseRelu {
  EnclosureView values;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const double c = values.centre[i];
    const double r = values.radius[i];
    const double half = 0.5 * above(c + r);
    values.centre[i] = c >= r ? c : c <= -r ? 0.0 : half;
    values.radius[i] = c >= r ? r : c <= -r ? 0.0 : half;
  }
};
struct EncloseActivation {
  ScalarFunction phi;
  EnclosureView values;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const Interval y = activation_range(phi, interval_around(values.centre[i], values.radius[i]));
    set_interval(y, values.centre[i], values.radius[i]);
  }
};

struct EncloseScale {
  double by;
  EnclosureView values;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const Interval x = interval_around(values.centre[i], values.radius[i]);
    const double low = by * (by < 0 ? x.high : x.low);
    const double high = by * (by < 0 ? x.low : x.high);
    set_interval(outward(low, high), values.centre[i], values.radius[i]);
  }
};

struct EncloseSum {
  ConstEnclosureView other;
  EnclosureView values;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const Interval a = interval_around(values.centre[i], values.radius[i]);
    const Interval b = interval_around(other.centre[i], other.radius[i]);
    set_interval(a + b, values.centre[i], values.radius[i]);
  }
};

struct ToEnds {
  EnclosureView values;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const Interval x = interval_around(values.centre[i], values.radius[i]);
    values.centre[i] = x.low;
    values.radius[i] = x.high;
  }
};
struct FromEnds {
  EnclosureView values;
  WIDELIMIT_BOTH void operator()(Index i) const {
    set_interval({values.centre[i], values.radius[i]}, values.centre[i], values.radius[i]);
  }
};

struct AddCentres {
  ConstEnclosureView other;
  EnclosureView values;
  WIDELIMIT_BOTH void operator()(Index i) const {
    const double centre = values.centre[i] + other.centre[i];
    values.radius[i] = above(values.radius[i] + other.radius[i] + std::abs(centre) * 0x1p-51);
    values.centre[i] = centre;
  }
};

[[nodiscard]] WIDELIMIT_BOTH inline Interval subtracted(const EnclosedPairView& pair, Index i) {
  return interval_around(pair.trained.centre[i], pair.trained.radius[i]) -
         interval_around(pair.start.centre[i], pair.start.radius[i]);
}
struct Subtract {
  EnclosedPairView pair;
  WIDELIMIT_BOTH void operator()(Index i) const {
    set_interval(subtracted(pair, i), pair.difference.centre[i], pair.difference.radius[i]);
  }
};
/// Intersects the difference with trained − start in interval arithmetic.
struct CutDifference {
  EnclosedPairView pair;
  WIDELIMIT_BOTH void operator()(Index i) const {
    double& centre = pair.difference.centre[i];
    double& radius = pair.difference.radius[i];
    const Interval d = interval_around(centre, radius);
    const Interval less = subtracted(pair, i);
    if (less.low <= d.low && less.high >= d.high) return;
    set_interval({std::max(less.low, d.low), std::min(less.high, d.high)}, centre, radius);
  }
};

/// The pair holds the inputs of φ.
struct ActivateDifference {
  bool rectifier;
  Interval slope;
  EnclosedPairView pair;
  WIDELIMIT_BOTH void operator()(Index i) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double& c = pair.difference.centre[i];
    double& r = pair.difference.radius[i];
    const double a = pair.trained.centre[i];
    const double b = pair.start.centre[i];
    if (rectifier && a >= pair.trained.radius[i] && b >= pair.start.radius[i]) return;
    if (rectifier && a <= -pair.trained.radius[i] && b <= -pair.start.radius[i]) {
      c = 0;
      r = 0;
      return;
    }
    const Interval d = interval_around(c, r);
    set_interval(finite(d) ? slope * d : Interval{-infinity, infinity}, c, r);
  }
};

/// Mean and standard deviation of one position over its channels.
struct Spread {
  double mean = 0;
  double mean_error = 0;     ///< rounding error of the mean
  double deviation_low = 0;  ///< lower bound of σ over the enclosure; ≤ 0 if σ may vanish
  double deviation_high = 0;
  double mean_radius = 0;  ///< Σ r/C, rounded up
};

/// All sums have C terms: g bounds their relative errors. The error of a difference from the mean contributes at most
/// its largest value to σ.
template <typename Team>
[[nodiscard]] WIDELIMIT_BOTH Spread spread_of(const double* centre, const double* radius, Index channels, double g,
                                              const Team& team) {
  const auto count = static_cast<double>(channels);
  Spread s;
  double size = 0;
  double square = 0;
  double radius_square = 0;
  for (Index c = team.rank(); c < channels; c += team.size()) {
    s.mean += centre[c] / count;
    size += std::abs(centre[c]) / count;
    s.mean_radius += radius[c] / count;
    radius_square += radius[c] * radius[c] / count;
  }
  s.mean = team.sum(s.mean);
  s.mean_error = 2 * g * team.sum(size) + underflow;
  s.mean_radius = team.sum(s.mean_radius) * (1 + 2 * g) + underflow;
  radius_square = team.sum(radius_square);
  for (Index c = team.rank(); c < channels; c += team.size()) {
    square += (centre[c] - s.mean) * (centre[c] - s.mean) / count;
  }
  const double deviation = std::sqrt(team.sum(square));
  // Square root of the underflow error of a sum of squares.
  constexpr double square_underflow = 0x1p-490;
  const double reach = std::sqrt(radius_square) * (1 + 2 * g) + s.mean_error + 2 * g * deviation + square_underflow;
  s.deviation_low = below(deviation - reach);
  s.deviation_high = above(deviation + reach);
  return s;
}

/// Range of n/σ.
[[nodiscard]] WIDELIMIT_BOTH inline Interval quotient(const Interval& n, const Spread& s) {
  const double low = n.low / (n.low >= 0 ? s.deviation_high : s.deviation_low);
  const double high = n.high / (n.high >= 0 ? s.deviation_low : s.deviation_high);
  return outward(low, high);
}

/// y = (x − μ)/σ over the channels of each position. With P x = x − μ: |(P(x − c))_k| ≤ r_k(1 − 1/C) + Σ_{i≠k} r_i/C,
/// and |σ(x) − σ(c)| ≤ ‖r‖₂/√C since ‖P‖ = 1; always |y| ≤ √(C − 1).
struct EncloseLayerNorm {
  double g;  ///< summation error for C terms
  Index cols;
  EnclosureView values;
  template <typename Team>
  WIDELIMIT_BOTH void operator()(Index row, const Team& team) const {
    double* centre = values.centre + row * cols;
    double* radius = values.radius + row * cols;
    const auto count = static_cast<double>(cols);
    const double most = above(std::sqrt(count - 1));
    const Spread s = spread_of(centre, radius, cols, g, team);
    for (Index c = team.rank(); c < cols; c += team.size()) {
      const double others = std::max(0.0, s.mean_radius - below(radius[c] / count));
      const double reach = radius[c] * (1 - 1 / count) * (1 + 2 * g) + others + s.mean_error;
      Interval y{-most, most};
      if (s.deviation_low > 0) {
        const Interval exact = quotient(interval_around(centre[c] - s.mean, reach * (1 + 2 * g)), s);
        y = {std::max(exact.low, -most), std::min(exact.high, most)};
      }
      set_interval(y, centre[c], radius[c]);
    }
  }
};

}  // namespace widelimit::enclosing

namespace widelimit {

/// EnclosurePasses on a Machine, i.e. a device or the host. The machine provides each(count, pass) for elementwise
/// passes, rows(count, pass) for rowwise passes, and scratch(bytes), owned by the holder of lock(), with upload(from,
/// bytes, to). Optionally it has cells(rows, cols, pass) for passes over matrix entries.
template <typename Machine>
class MachineEnclosures final : public EnclosurePasses {
 public:
  explicit MachineEnclosures(Machine machine) : machine_(std::move(machine)) {}

  void take_columns(WeightMap map, const WeightColumns<float>& from, double* to) override { take(map, from, to); }
  void take_columns(WeightMap map, const WeightColumns<double>& from, double* to) override { take(map, from, to); }
  void column_distances(const WeightColumns<float>& from, Index c, double* to) override {
    cells(from.rows, from.cols, enclosing::ColumnDistances<float>{from, c, to});
  }
  void column_distances(const WeightColumns<double>& from, Index c, double* to) override {
    cells(from.rows, from.cols, enclosing::ColumnDistances<double>{from, c, to});
  }
  void widen(double g, const ConstEnclosureView& a, Index count, double* to) override {
    machine_.each(count, enclosing::Widen{g, a, to});
  }
  void round_up(double g, double least, const double* bias, Index rows, Index cols, double* radius) override {
    cells(rows, cols, enclosing::RoundUp{g, least, bias, cols, radius});
  }
  void first_layer(const FirstLayerRows& rows, const EnclosureView& to) override {
    [[maybe_unused]] const auto lock = machine_.lock();
    auto* const reach = static_cast<double*>(machine_.scratch(rows.reach.size_bytes() + rows.points.size_bytes()));
    auto* const points = static_cast<Index*>(static_cast<void*>(reach + rows.reach.size()));
    machine_.upload(rows.reach.data(), rows.reach.size_bytes(), reach);
    machine_.upload(rows.points.data(), rows.points.size_bytes(), points);
    cells(static_cast<Index>(rows.points.size()), rows.size,
          enclosing::FirstLayerBalls{points, reach, rows.centres, rows.unit, rows.size, rows.g, to});
  }

  void activate(const ScalarFunction& phi, Index count, const EnclosureView& values) override {
    if (phi.phi == Phi::relu) return machine_.each(count, enclosing::EncloseRelu{values});
    machine_.each(count, enclosing::EncloseActivation{phi, values});
  }
  void normalise(Index rows, Index cols, const EnclosureView& values) override {
    machine_.rows(rows, enclosing::EncloseLayerNorm{summation_error(cols), cols, values});
  }
  void scale(double by, Index count, const EnclosureView& values) override {
    machine_.each(count, enclosing::EncloseScale{by, values});
  }
  void add(const ConstEnclosureView& other, Index count, const EnclosureView& values) override {
    machine_.each(count, enclosing::EncloseSum{other, values});
  }
  void to_ends(Index count, const EnclosureView& values) override { machine_.each(count, enclosing::ToEnds{values}); }
  void from_ends(Index count, const EnclosureView& values) override {
    machine_.each(count, enclosing::FromEnds{values});
  }

  void add_centres(const ConstEnclosureView& other, Index count, const EnclosureView& values) override {
    machine_.each(count, enclosing::AddCentres{other, values});
  }
  void subtract(Index count, const EnclosedPairView& pair) override { machine_.each(count, enclosing::Subtract{pair}); }
  void cut(Index count, const EnclosedPairView& pair) override { machine_.each(count, enclosing::CutDifference{pair}); }
  void activate_difference(Phi phi, const Interval& slope, Index count, const EnclosedPairView& pair) override {
    machine_.each(count, enclosing::ActivateDifference{phi == Phi::relu, slope, pair});
  }

 private:
  template <typename Pass>
  void cells(Index rows, Index cols, const Pass& pass) {
    if constexpr (requires { machine_.cells(rows, cols, pass); }) {
      machine_.cells(rows, cols, pass);
    } else {
      machine_.each(rows * cols, enclosing::Cells<Pass>{cols, pass});
    }
  }
  template <std::floating_point T>
  void take(WeightMap map, const WeightColumns<T>& from, double* to) {
    switch (map) {
      case WeightMap::itself:
        return cells(from.rows, from.width, enclosing::TakeColumns<T, WeightMap::itself>{from, to});
      case WeightMap::modulus:
        return cells(from.rows, from.width, enclosing::TakeColumns<T, WeightMap::modulus>{from, to});
      case WeightMap::square:
        return cells(from.rows, from.width, enclosing::TakeColumns<T, WeightMap::square>{from, to});
    }
  }

  Machine machine_;
};

}  // namespace widelimit
