#include "widelimit/certificate/network/network_bounds.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/certificate/network/enclose_affine.hpp"
#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/finite/layers/pooling.hpp"

#include <memory>
#include <utility>

namespace widelimit {

namespace {

/// Encloses sums with non-negative weights: applies `sum` to centres, and to radii widened by the rounding error of
/// `terms` terms.
template <typename Sum>
void enclose_sums(Index terms, Enclosure& values, const Engine& engine, const Sum& sum) {
  const double g = summation_error(terms);
  const auto passes = enclosures_of(engine);
  const EnclosureView view = values.update(engine);
  passes->widen(g, {view.centre, view.radius}, values.centre.size(), view.radius);
  Enclosure out;
  sum(values.centre, out.centre);
  sum(values.radius, out.radius);
  passes->round_up(g, underflow, nullptr, out.radius.rows(), out.radius.shape().channels,
                   update_where(out.radius, engine));
  values = std::move(out);
}

class Bounding {
 public:
  Bounding(const Architecture& architecture, const AnyParameters& parameters, const Engine& engine)
      : architecture_(architecture), parameters_(parameters), engine_(engine), passes_(enclosures_of(engine)) {}

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
    Enclosure patches;
    stage.windows->gather(values.centre, patches.centre, engine_);
    stage.windows->gather(values.radius, patches.radius, engine_);
    values = std::move(patches);
    weigh(stage, values);
  }
  void apply(const Activation& activation, const Stage&, Enclosure& values) const {
    passes_->activate(scalar_function(activation).value(), values.centre.size(), values.update(engine_));
  }
  void apply(const Pool& layer, const Stage& stage, Enclosure& values) const {
    if (layer.pooling == Pooling::max) {
      pool_maxima(*stage.windows, values);
    } else {
      enclose_sums(stage.windows->size(), values, engine_, [&](const Tensor<double>& from, Tensor<double>& to) {
        pool(layer.pooling, *stage.windows, from, to, engine_);
      });
    }
  }
  void apply(const GlobalPool& layer, const Stage& stage, Enclosure& values) const {
    enclose_sums(stage.in.positions(), values, engine_,
                 [&](const Tensor<double>& from, Tensor<double>& to) { global_pool(layer, from, to, engine_); });
  }
  void apply(const Flatten&, const Stage& stage, Enclosure& values) const {
    Enclosure out;
    out.centre.assign(values.centre, stage.out);
    out.radius.assign(values.radius, stage.out);
    values = std::move(out);
  }
  void apply(const LayerNorm&, const Stage&, Enclosure& values) const {
    passes_->normalise(values.centre.rows(), values.centre.shape().channels, values.update(engine_));
  }
  void apply(const Dropout&, const Stage&, Enclosure&) const {}
  void apply(const Scale& layer, const Stage&, Enclosure& values) const {
    passes_->scale(layer.by, values.centre.size(), values.update(engine_));
  }
  void apply(const Attention&, const Stage& stage, Enclosure&) const {
    fail(Code::usage, "layer {}: interval propagation does not support attention", stage.place);
  }
  void apply(const Aggregate&, const Stage& stage, Enclosure&) const { refuse_graphs(stage.place); }
  void apply(const Residual&, const Stage& stage, Enclosure& values) const {
    Enclosure shortcut = values;
    chain(stage.branch, values);
    chain(stage.shortcut, shortcut);
    passes_->add(shortcut.read(engine_), values.centre.size(), values.update(engine_));
  }

  /// The maximum of intervals is the interval of the maxima of their endpoints.
  void pool_maxima(const Windows& windows, Enclosure& values) const {
    passes_->to_ends(values.centre.size(), values.update(engine_));
    Enclosure ends;
    pool(Pooling::max, windows, values.centre, ends.centre, engine_);
    pool(Pooling::max, windows, values.radius, ends.radius, engine_);
    passes_->from_ends(ends.centre.size(), ends.update(engine_));
    values = std::move(ends);
  }

  const Architecture& architecture_;
  const AnyParameters& parameters_;
  const Engine& engine_;
  std::shared_ptr<EnclosurePasses> passes_;
};

}  // namespace

bool has_range(Phi phi) { return phi != Phi::hermite && phi != Phi::polynomial && phi != Phi::custom; }

void require_bounds(const std::vector<Stage>& stages) {
  for (const Stage& stage : stages) {
    if (std::holds_alternative<Attention>(stage.layer.value)) {
      fail(Code::usage,
           "layer {}: attention has no certificate, since interval propagation does not support softmax; remove it",
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
