#include "widelimit/certificate/network/network_bounds.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/certificate/network/activation_range.hpp"
#include "widelimit/certificate/network/enclose_affine.hpp"
#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/finite/layers/pooling.hpp"

#include <algorithm>
#include <utility>

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
  s.deviation_low = below(deviation - reach);
  s.deviation_high = above(deviation + reach);
  return s;
}

/// The least and largest n/σ.
Interval quotient(Interval n, const Spread& s) {
  const double low = n.low / (n.low >= 0 ? s.deviation_high : s.deviation_low);
  const double high = n.high / (n.high >= 0 ? s.deviation_low : s.deviation_high);
  return outward(low, high);
}

/// y = (x − μ)/σ over the channels of each position, in place. With P x = x − μ: |(P(x − c))_k| ≤ r_k(1 − 1/C) +
/// Σ_{i≠k} r_i/C, and |σ(x) − σ(c)| ≤ ‖r‖₂/√C since ‖P‖ = 1; always |y| ≤ √(C − 1).
void enclose_layer_norm(Enclosure& values) {
  const Index channels = values.centre.shape().channels;
  const double g = summation_error(channels);
  const auto count = static_cast<double>(channels);
  const double most = above(std::sqrt(count - 1));
  for (Index row = 0; row < values.centre.rows(); ++row) {
    double* centre = values.centre.data() + row * channels;
    double* radius = values.radius.data() + row * channels;
    const Spread s = spread_of(centre, radius, channels, g);
    for (Index c = 0; c < channels; ++c) {
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
}

/// Sums with weights that are not negative: `sum` is applied to centres, and to radii with what rounding makes of
/// `terms` of them.
template <typename Sum>
void enclose_sums(Index terms, Enclosure& values, const Sum& sum) {
  const double g = summation_error(terms);
  Enclosure out;
  for (Index i = 0; i < values.centre.size(); ++i) values.radius[i] += g * std::abs(values.centre[i]) + underflow;
  sum(values.centre, out.centre);
  sum(values.radius, out.radius);
  for (Index i = 0; i < out.radius.size(); ++i) out.radius[i] = out.radius[i] * (1 + 2 * g) + underflow;
  values = std::move(out);
}

class Bounding {
 public:
  Bounding(const Architecture& architecture, const AnyParameters& parameters, const Engine& engine)
      : architecture_(architecture), parameters_(parameters), engine_(engine) {}

  void chain(std::span<const Stage> stages, Enclosure& values) const {
    for (const Stage& stage : stages) {
      std::visit([&](const auto& layer) { apply(layer, stage, values); }, stage.layer.value);
    }
  }

 private:
  void weigh(const Stage& stage, Enclosure& values) const {
    Enclosure out;
    std::visit(
        [&]<std::floating_point T>(const Parameters<T>& parameters) {
          const auto slot = usize(stage.slot);
          enclose_affine<T>(architecture_.slots[slot], parameters.slots[slot], nullptr, values, out, engine_);
        },
        parameters_);
    values = std::move(out);
  }

  void apply(const Dense&, const Stage& stage, Enclosure& values) const { weigh(stage, values); }
  void apply(const Conv&, const Stage& stage, Enclosure& values) const {
    Enclosure seen;
    stage.windows->gather(values.centre, seen.centre, engine_);
    stage.windows->gather(values.radius, seen.radius, engine_);
    values = std::move(seen);
    weigh(stage, values);
  }
  void apply(const Activation& activation, const Stage&, Enclosure& values) const {
    enclose_activation(activation, values, engine_);
  }
  void apply(const Pool& layer, const Stage& stage, Enclosure& values) const {
    if (layer.pooling == Pooling::max) {
      pool_maxima(*stage.windows, values);
    } else {
      enclose_sums(stage.windows->size(), values, [&](const Tensor<double>& from, Tensor<double>& to) {
        pool(layer.pooling, *stage.windows, from, to, engine_);
      });
    }
  }
  void apply(const GlobalPool& layer, const Stage& stage, Enclosure& values) const {
    enclose_sums(stage.in.positions(), values,
                 [&](const Tensor<double>& from, Tensor<double>& to) { global_pool(layer, from, to, engine_); });
  }
  void apply(const Flatten&, const Stage& stage, Enclosure& values) const {
    Enclosure out;
    out.centre.assign(values.centre, stage.out);
    out.radius.assign(values.radius, stage.out);
    values = std::move(out);
  }
  void apply(const LayerNorm&, const Stage&, Enclosure& values) const { enclose_layer_norm(values); }
  void apply(const Dropout&, const Stage&, Enclosure&) const {}
  void apply(const Scale& layer, const Stage&, Enclosure& values) const {
    for (Index i = 0; i < values.centre.size(); ++i) {
      const Interval x = interval_around(values.centre[i], values.radius[i]);
      const double low = layer.by * (layer.by < 0 ? x.high : x.low);
      const double high = layer.by * (layer.by < 0 ? x.low : x.high);
      set_interval(outward(low, high), values.centre[i], values.radius[i]);
    }
  }
  void apply(const Attention&, const Stage& stage, Enclosure&) const {
    fail(Code::usage, "layer {}: intervals do not pass attention", stage.place);
  }
  void apply(const Aggregate&, const Stage& stage, Enclosure&) const { refuse_graphs(stage.place); }
  void apply(const Residual&, const Stage& stage, Enclosure& values) const {
    Enclosure shortcut = values;
    chain(stage.branch, values);
    chain(stage.shortcut, shortcut);
    for (Index i = 0; i < values.centre.size(); ++i) {
      const Interval a = interval_around(values.centre[i], values.radius[i]);
      const Interval b = interval_around(shortcut.centre[i], shortcut.radius[i]);
      set_interval(a + b, values.centre[i], values.radius[i]);
    }
  }

  /// The maximum of intervals is the interval of the maxima of their ends.
  void pool_maxima(const Windows& windows, Enclosure& values) const {
    for (Index i = 0; i < values.centre.size(); ++i) {
      const Interval x = interval_around(values.centre[i], values.radius[i]);
      values.centre[i] = x.low;
      values.radius[i] = x.high;
    }
    Enclosure ends;
    pool(Pooling::max, windows, values.centre, ends.centre, engine_);
    pool(Pooling::max, windows, values.radius, ends.radius, engine_);
    for (Index i = 0; i < ends.centre.size(); ++i) {
      set_interval({ends.centre[i], ends.radius[i]}, ends.centre[i], ends.radius[i]);
    }
    values = std::move(ends);
  }

  const Architecture& architecture_;
  const AnyParameters& parameters_;
  const Engine& engine_;
};

}  // namespace

void require_bounds(const std::vector<Stage>& stages) {
  for (const Stage& stage : stages) {
    if (std::holds_alternative<Attention>(stage.layer.value)) {
      fail(Code::usage,
           "layer {}: there is no certificate of attention, whose softmax intervals do not pass; leave it out",
           stage.place);
    }
    const auto* activation = std::get_if<Activation>(&stage.layer.value);
    if (activation != nullptr && !has_range(activation->phi)) {
      fail(Code::usage,
           "layer {}: the range of '{}' on an interval is not known, so there is no certificate; use relu, erf, "
           "tanh or another activation with a range",
           stage.place, to_string(activation->phi));
    }
    require_bounds(stage.branch);
    require_bounds(stage.shortcut);
  }
}

void enclose_stages(const Architecture& architecture, const AnyParameters& parameters, std::span<const Stage> stages,
                    Enclosure& values, const Engine& engine) {
  Bounding(architecture, parameters, engine).chain(stages, values);
}

}  // namespace widelimit
