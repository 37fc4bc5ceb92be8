#include "widelimit/certificate/network/first_layer.hpp"

#include "widelimit/certificate/network/enclose_affine.hpp"

#include <algorithm>

namespace widelimit {

namespace {

double sample_norm(const double* x, Index size, Norm norm) {
  double sum = 0;
  for (Index i = 0; i < size; ++i) sum = norm == Norm::linf ? std::max(sum, std::abs(x[i])) : sum + x[i] * x[i];
  return norm == Norm::linf ? sum : std::sqrt(sum) * (1 + 2 * summation_error(size)) + 0x1p-490;
}

/// visit(weights, minus or null) of one slot, in their precision.
template <typename Visit>
void visit_slot(const AnyParameters& parameters, const AnyParameters* minus, std::size_t slot, const Visit& visit) {
  std::visit(
      [&]<std::floating_point T>(const Parameters<T>& p) {
        visit(p.slots[slot], minus == nullptr ? nullptr : &std::get<Parameters<T>>(*minus).slots[slot]);
      },
      parameters);
}

}  // namespace

std::optional<std::size_t> exact_first_layer(const std::vector<Stage>& stages, Norm norm) {
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const auto& layer = stages[k].layer.value;
    if (std::holds_alternative<Flatten>(layer) || std::holds_alternative<Dropout>(layer)) continue;
    if (std::holds_alternative<Dense>(layer)) return k;
    const auto* conv = std::get_if<Conv>(&layer);
    if (conv != nullptr && (norm == Norm::linf || conv->padding != Padding::circular)) return k;
    return std::nullopt;
  }
  return std::nullopt;
}

Tensor<double> seen_by(const Stage& stage, const Tensor<double>& input, int threads) {
  Tensor<double> seen;
  if (stage.windows) {
    Tensor<double> image;
    image.assign(input, stage.in);
    stage.windows->gather(image, seen, threads);
  } else {
    seen.assign(input, stage.in);
  }
  return seen;
}

FirstLayer::FirstLayer(const Architecture& architecture, std::size_t stage, const AnyParameters& parameters,
                       const AnyParameters* minus, Norm norm, int threads)
    : architecture_(architecture),
      stage_(architecture.stages[stage]),
      parameters_(parameters),
      minus_(minus),
      norm_(norm) {
  Tensor<double> ones(1, architecture.input);
  std::fill(ones.values().begin(), ones.values().end(), 1.0);
  const Tensor<double> reach = seen_by(stage_, ones, threads);
  const WeightSlot& slot = architecture.slots[at(stage_.slot)];
  visit_slot(parameters, minus, at(stage_.slot), [&](const auto& weights, const auto* subtracted) {
    unit_ = norm == Norm::linf ? unit_radius_linf(slot, weights, subtracted, reach, threads)
                               : unit_radius_l2(slot, weights, subtracted, reach, threads);
  });
}

void FirstLayer::look_at(const Tensor<double>& points, int threads) {
  const Tensor<double> seen = seen_by(stage_, points, threads);
  visit_slot(parameters_, minus_, at(stage_.slot), [&](const auto& weights, const auto* subtracted) {
    affine_centre(architecture_.slots[at(stage_.slot)], weights, subtracted, seen, centres_, threads);
  });
}

/// |z − ẑ| ≤ δ·unit + 2g(‖x‖·unit + |ẑ|): the columns' share of rounding by Hölder's inequality, the bias by what it
/// and the product add up to.
Enclosure FirstLayer::enclose(const Tensor<double>& points, std::span<const Ball> balls) const {
  const double g = summation_error(architecture_.slots[at(stage_.slot)].fan_in);
  const Index size = stage_.out.size();
  Enclosure values;
  values.resize(std::ssize(balls), stage_.out);
  for (Index n = 0; n < values.count(); ++n) {
    const Ball& ball = balls[at(n)];
    const double reach = ball.radius + 2 * g * sample_norm(points.sample(ball.point), points.shape().size(), norm_);
    const double* z = centres_.sample(ball.point);
    std::copy_n(z, size, values.centre.sample(n));
    double* radius = values.radius.sample(n);
    for (Index i = 0; i < size; ++i) radius[i] = (reach * unit_[i] + 2 * g * std::abs(z[i])) * (1 + 2 * g) + underflow;
  }
  return values;
}

Enclosure enclose_coordinates(const Tensor<double>& points, std::span<const Ball> balls,
                              const std::optional<Box>& box) {
  const Index size = points.shape().size();
  Enclosure values;
  values.resize(std::ssize(balls), points.shape());
  for (Index n = 0; n < values.count(); ++n) {
    const Ball& ball = balls[at(n)];
    const double* x = points.sample(ball.point);
    for (Index i = 0; i < size; ++i) {
      Ends ends = ends_of(x[i], ball.radius);
      if (box) ends = {std::max(ends.low, box->low), std::min(ends.high, box->high)};
      set_ends(ends.low, ends.high, values.centre.sample(n)[i], values.radius.sample(n)[i]);
    }
  }
  return values;
}

}  // namespace widelimit
