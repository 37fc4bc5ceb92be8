#include "widelimit/certificate/network/network_bounds.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/certificate/network/activation_range.hpp"
#include "widelimit/certificate/network/enclose_affine.hpp"
#include "widelimit/certificate/network/layer_norm_range.hpp"
#include "widelimit/finite/layers/pooling.hpp"

#include <algorithm>
#include <utility>

namespace widelimit {

namespace {

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
  Bounding(const Architecture& architecture, const AnyParameters& parameters, int threads)
      : architecture_(architecture), parameters_(parameters), threads_(threads) {}

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
          const auto slot = at(stage.slot);
          enclose_affine<T>(architecture_.slots[slot], parameters.slots[slot], nullptr, values, out, threads_);
        },
        parameters_);
    values = std::move(out);
  }

  void apply(const Dense&, const Stage& stage, Enclosure& values) const { weigh(stage, values); }
  void apply(const Conv&, const Stage& stage, Enclosure& values) const {
    Enclosure seen;
    stage.windows->gather(values.centre, seen.centre, threads_);
    stage.windows->gather(values.radius, seen.radius, threads_);
    values = std::move(seen);
    weigh(stage, values);
  }
  void apply(const Activation& activation, const Stage&, Enclosure& values) const {
    enclose_activation(activation, values, threads_);
  }
  void apply(const Pool& layer, const Stage& stage, Enclosure& values) const {
    if (layer.pooling == Pooling::max) {
      pool_maxima(*stage.windows, values);
    } else {
      enclose_sums(stage.windows->size(), values, [&](const Tensor<double>& from, Tensor<double>& to) {
        pool(layer.pooling, *stage.windows, from, to, threads_);
      });
    }
  }
  void apply(const GlobalPool& layer, const Stage& stage, Enclosure& values) const {
    enclose_sums(stage.in.positions(), values,
                 [&](const Tensor<double>& from, Tensor<double>& to) { global_pool(layer, from, to); });
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
      const Ends x = ends_of(values.centre[i], values.radius[i]);
      const double low = layer.by * (layer.by < 0 ? x.high : x.low);
      const double high = layer.by * (layer.by < 0 ? x.low : x.high);
      set_ends(rounded_down(low), rounded_up(high), values.centre[i], values.radius[i]);
    }
  }
  void apply(const Attention&, const Stage& stage, Enclosure&) const {
    fail(Code::usage, "layer {}: intervals do not pass attention", stage.place);
  }
  void apply(const Residual&, const Stage& stage, Enclosure& values) const {
    Enclosure shortcut = values;
    chain(stage.branch, values);
    chain(stage.shortcut, shortcut);
    for (Index i = 0; i < values.centre.size(); ++i) {
      const Ends a = ends_of(values.centre[i], values.radius[i]);
      const Ends b = ends_of(shortcut.centre[i], shortcut.radius[i]);
      set_ends(rounded_down(a.low + b.low), rounded_up(a.high + b.high), values.centre[i], values.radius[i]);
    }
  }

  /// The maximum of intervals is the interval of the maxima of their ends.
  void pool_maxima(const Windows& windows, Enclosure& values) const {
    for (Index i = 0; i < values.centre.size(); ++i) {
      const Ends x = ends_of(values.centre[i], values.radius[i]);
      values.centre[i] = x.low;
      values.radius[i] = x.high;
    }
    Enclosure ends;
    pool(Pooling::max, windows, values.centre, ends.centre, threads_);
    pool(Pooling::max, windows, values.radius, ends.radius, threads_);
    for (Index i = 0; i < ends.centre.size(); ++i) {
      set_ends(ends.centre[i], ends.radius[i], ends.centre[i], ends.radius[i]);
    }
    values = std::move(ends);
  }

  const Architecture& architecture_;
  const AnyParameters& parameters_;
  int threads_;
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
                    Enclosure& values, int threads) {
  Bounding(architecture, parameters, threads).chain(stages, values);
}

}  // namespace widelimit
