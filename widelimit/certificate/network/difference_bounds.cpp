#include "widelimit/certificate/network/difference_bounds.hpp"

#include "widelimit/certificate/network/enclose_affine.hpp"
#include "widelimit/certificate/network/network_bounds.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace widelimit {

namespace {

/// Returns bounds of (φ(x) − φ(y))/(x − y) over all x, y, rounded outwards; std::nullopt if unbounded or not tabulated.
std::optional<Interval> slope_range(const Activation& activation) {
  switch (activation.phi) {
    case Phi::relu:
    case Phi::tanh:
    case Phi::softplus:
      return Interval{0, 1};
    case Phi::leaky_relu:
      return Interval{std::min(activation.slope, 1.0), std::max(activation.slope, 1.0)};
    case Phi::identity:
      return Interval{1, 1};
    case Phi::abs:
    case Phi::sin:
    case Phi::cos:
      return Interval{-1, 1};
    case Phi::erf:
      return Interval{0, 1.12838};
    case Phi::sigmoid:
      return Interval{0, 0.25};
    case Phi::gelu:
      return Interval{-0.13, 1.13};
    case Phi::swish:
      return Interval{-0.1, 1.1};
    default:
      return std::nullopt;
  }
}

/// Returns views of the three enclosures in the memory where the engine works; the difference is writable.
EnclosedPairView pair_view(EnclosedPair& pair, const Engine& engine) {
  return {pair.trained.read(engine), pair.start.read(engine), pair.difference.update(engine)};
}

class DifferenceBounding {
 public:
  DifferenceBounding(const Architecture& architecture, const AnyParameters& trained, const AnyParameters& start,
                     const Engine& engine)
      : architecture_(architecture),
        trained_(trained),
        start_(start),
        engine_(engine),
        passes_(enclosures_of(engine)) {}

  void pass(const Stage& stage, EnclosedPair& pair) const {
    const auto& layer = stage.layer.value;
    if (std::holds_alternative<Dense>(layer)) {
      weigh(stage, pair);
    } else if (std::holds_alternative<Conv>(layer)) {
      for (const auto each : {&EnclosedPair::trained, &EnclosedPair::start, &EnclosedPair::difference}) {
        Enclosure patches;
        stage.windows->gather((pair.*each).centre, patches.centre, engine_);
        stage.windows->gather((pair.*each).radius, patches.radius, engine_);
        pair.*each = std::move(patches);
      }
      weigh(stage, pair);
    } else if (const auto* activation = std::get_if<Activation>(&layer)) {
      rectify_pair(stage, *activation, pair);
    } else {
      pass_others(stage, pair);
    }
  }

 private:
  void each_network(const Stage& stage, EnclosedPair& pair) const {
    enclose_stages(architecture_, trained_, {&stage, 1}, pair.trained, engine_);
    enclose_stages(architecture_, start_, {&stage, 1}, pair.start, engine_);
  }

  void weigh(const Stage& stage, EnclosedPair& pair) const {
    const auto k = usize(stage.slot);
    const WeightSlot& slot = architecture_.slots[k];
    std::visit(
        [&]<std::floating_point T>(const Parameters<T>& trained) {
          const auto& start = std::get<Parameters<T>>(start_);
          EnclosedPair out;
          out.difference = enclose_affine_difference<T>(slot, trained.slots[k], start.slots[k], pair, engine_);
          enclose_affine<T>(slot, trained.slots[k], nullptr, pair.trained, out.trained, engine_);
          enclose_affine<T>(slot, start.slots[k], nullptr, pair.start, out.start, engine_);
          pair = std::move(out);
        },
        trained_);
    cut_by_subtraction(pair);
  }

  void rectify_pair(const Stage& stage, const Activation& activation, EnclosedPair& pair) const {
    const auto slope = slope_range(activation);
    if (slope) {
      passes_->activate_difference(activation.phi, *slope, pair.difference.centre.size(), pair_view(pair, engine_));
    }
    each_network(stage, pair);
    if (slope) {
      cut_by_subtraction(pair);
    } else {
      subtract(pair);
    }
  }

  /// Intersects the difference with the difference of the two intervals, which is sometimes tighter.
  void cut_by_subtraction(EnclosedPair& pair) const {
    passes_->cut(pair.difference.centre.size(), pair_view(pair, engine_));
  }
  void subtract(EnclosedPair& pair) const {
    pair.difference.resize(pair.trained.count(), pair.trained.centre.shape());
    passes_->subtract(pair.difference.centre.size(),
                      {pair.trained.read(engine_), pair.start.read(engine_), pair.difference.write(engine_)});
  }

  /// Propagates through layers without weights; linear layers map the difference like a value.
  void pass_others(const Stage& stage, EnclosedPair& pair) const {
    each_network(stage, pair);
    const auto* window = std::get_if<Pool>(&stage.layer.value);
    const bool linear = !std::holds_alternative<Residual>(stage.layer.value) &&
                        !std::holds_alternative<LayerNorm>(stage.layer.value) &&
                        !(window != nullptr && window->pooling == Pooling::max);
    if (linear) {
      enclose_stages(architecture_, trained_, {&stage, 1}, pair.difference, engine_);
    } else {
      subtract(pair);
    }
  }

  const Architecture& architecture_;
  const AnyParameters& trained_;
  const AnyParameters& start_;
  const Engine& engine_;
  std::shared_ptr<EnclosurePasses> passes_;
};

}  // namespace

template <std::floating_point T>
Enclosure enclose_affine_difference(const WeightSlot& slot, const Weights<T>& trained, const Weights<T>& start,
                                    const EnclosedPair& pair, const Engine& engine) {
  WeightSlot unbiased = slot;
  unbiased.b_scale = 0;
  Enclosure moved;
  Enclosure carried;
  enclose_affine<T>(slot, trained, &start, pair.trained, moved, engine);
  enclose_affine<T>(unbiased, start, nullptr, pair.difference, carried, engine);
  enclosures_of(engine)->add_centres(carried.read(engine), moved.centre.size(), moved.update(engine));
  return moved;
}

void enclose_difference(const Architecture& architecture, const AnyParameters& trained, const AnyParameters& start,
                        std::span<const Stage> stages, const Engine& engine, EnclosedPair& pair) {
  const DifferenceBounding bounding(architecture, trained, start, engine);
  for (const Stage& stage : stages) bounding.pass(stage, pair);
}

template Enclosure enclose_affine_difference(const WeightSlot&, const Weights<float>&, const Weights<float>&,
                                             const EnclosedPair&, const Engine&);
template Enclosure enclose_affine_difference(const WeightSlot&, const Weights<double>&, const Weights<double>&,
                                             const EnclosedPair&, const Engine&);

}  // namespace widelimit
