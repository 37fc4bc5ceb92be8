#include "widelimit/certificate/network_margins.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/enclose_affine.hpp"
#include "widelimit/certificate/network_bounds.hpp"
#include "widelimit/finite/gemm.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Numbers of the first layers that are kept, and of the activations of the balls that pass the rest together: few
/// where only vectors follow, so that a ball stays in the caches from layer to layer, many where matrices follow, which
/// are taken to float64 again for each part.
constexpr Index kept_numbers = Index{1} << 26;
constexpr Index cached_numbers = Index{1} << 16;
constexpr Index working_numbers = Index{1} << 23;

/// The first layer that weighs, where only a change of shape stands before it. A circular window may see a pixel twice,
/// and then its column's ℓ2 norm does not bound the sum.
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

/// Values of the widest stage, with the windows of convolutions.
Index widest(const std::vector<Stage>& stages) {
  Index most = 1;
  for (const Stage& stage : stages) {
    Index seen = std::max(stage.in.size(), stage.out.size());
    if (std::holds_alternative<Conv>(stage.layer.value)) {
      seen += stage.out.positions() * stage.windows->size() * stage.in.channels;
    }
    most = std::max({most, seen, widest(stage.branch) + stage.in.size(), widest(stage.shortcut) + stage.in.size()});
  }
  return most;
}

/// Columns of the widest matrix from stage `first` on.
Index most_columns(const Architecture& architecture, std::size_t first) {
  Index most = 0;
  for (std::size_t k = first; k < architecture.stages.size(); ++k) {
    const Stage& stage = architecture.stages[k];
    const bool weighs = !std::holds_alternative<Activation>(stage.layer.value);
    if (weighs) most = std::max(most, stage.out.size());
  }
  return most;
}

/// What the matrix of a dense or conv layer multiplies.
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

double norm_of(const double* x, Index size, Norm norm) {
  double sum = 0;
  for (Index i = 0; i < size; ++i) sum = norm == Norm::linf ? std::max(sum, std::abs(x[i])) : sum + x[i] * x[i];
  return norm == Norm::linf ? sum : std::sqrt(sum) * (1 + 2 * summation_error(size)) + 0x1p-490;
}

}  // namespace

NetworkMargins::NetworkMargins(const Architecture& architecture, const AnyParameters& parameters, Norm norm,
                               std::optional<Box> box, int threads)
    : architecture_(architecture),
      parameters_(parameters),
      norm_(norm),
      box_(norm == Norm::linf ? box : std::nullopt),
      threads_(threads),
      outputs_(architecture.output.size()) {
  require_bounds(architecture.stages);
  std::visit([&](const auto& p) { require_match(architecture, p); }, parameters);
  if (!box_) first_ = exact_first_layer(architecture.stages, norm);
  // One layer alone: the columns that are subtracted see the coordinates themselves.
  if (outputs_ > 1 && norm == Norm::linf && first_ && *first_ + 1 == architecture.stages.size()) first_.reset();
  if (!first_) return;
  const Stage& stage = architecture.stages[*first_];
  Tensor<double> ones(1, architecture.input);
  std::fill(ones.values().begin(), ones.values().end(), 1.0);
  const Tensor<double> reach = seen_by(stage, ones, threads);
  const WeightSlot& slot = architecture.slots[at(stage.slot)];
  std::visit(
      [&](const auto& p) {
        const auto& weights = p.slots[at(stage.slot)];
        unit_ = norm == Norm::linf ? unit_radius_linf(slot, weights, reach, threads)
                                   : unit_radius_l2(slot, weights, reach, threads);
      },
      parameters);
}

Index NetworkMargins::points_at_once() const {
  const Index kept = first_ ? architecture_.stages[*first_].out.size() : architecture_.input.size();
  return std::max<Index>(1, kept_numbers / kept);
}

void NetworkMargins::look_at(Tensor<double> points, std::span<const Index> labels) {
  points_ = std::move(points);
  labels_ = labels;
  if (!first_) return;
  const Stage& stage = architecture_.stages[*first_];
  const Tensor<double> seen = seen_by(stage, points_, threads_);
  std::visit(
      [&](const auto& p) {
        affine_centre(architecture_.slots[at(stage.slot)], p.slots[at(stage.slot)], seen, centres_, threads_);
      },
      parameters_);
}

/// |z − ẑ| ≤ δ·unit + 2g(‖x‖·unit + |ẑ|): the columns' share of rounding by Hölder's inequality, the bias by what it
/// and the product add up to.
Enclosure NetworkMargins::begin_by_columns(std::span<const PointBall> balls) const {
  const Stage& stage = architecture_.stages[*first_];
  const double g = summation_error(architecture_.slots[at(stage.slot)].fan_in);
  const Index size = stage.out.size();
  Enclosure values;
  values.resize(std::ssize(balls), stage.out);
  for (Index n = 0; n < values.count(); ++n) {
    const PointBall& ball = balls[at(n)];
    const double reach = ball.radius + 2 * g * norm_of(points_.sample(ball.point), points_.shape().size(), norm_);
    const double* z = centres_.sample(ball.point);
    std::copy_n(z, size, values.centre.sample(n));
    double* radius = values.radius.sample(n);
    for (Index i = 0; i < size; ++i) radius[i] = (reach * unit_[i] + 2 * g * std::abs(z[i])) * (1 + 2 * g) + underflow;
  }
  return values;
}

Enclosure NetworkMargins::begin_by_coordinates(std::span<const PointBall> balls) const {
  const Index size = points_.shape().size();
  Enclosure values;
  values.resize(std::ssize(balls), architecture_.input);
  for (Index n = 0; n < values.count(); ++n) {
    const PointBall& ball = balls[at(n)];
    const double* x = points_.sample(ball.point);
    for (Index i = 0; i < size; ++i) {
      Ends ends = ends_of(x[i], ball.radius);
      if (box_) ends = {std::max(ends.low, box_->low), std::min(ends.high, box_->high)};
      set_ends(ends.low, ends.high, values.centre.sample(n)[i], values.radius.sample(n)[i]);
    }
  }
  return values;
}

Enclosure NetworkMargins::begin(std::span<const PointBall> balls) const {
  return first_ ? begin_by_columns(balls) : begin_by_coordinates(balls);
}

bool NetworkMargins::differs_columns() const {
  const Stage& last = architecture_.stages.back();
  const bool bounded_already = first_ && *first_ + 1 == architecture_.stages.size();
  return outputs_ > 1 && std::holds_alternative<Dense>(last.layer.value) && last.out.positions() == 1 &&
         !bounded_already;
}

/// z_c − z_k of the last layer has the radius w_scale·Σ rᵢ|w_ic − w_ik|, less than those of z_c and z_k together; the
/// radii of z_c and z_k with a at rest are their rounding.
void NetworkMargins::bound_class_differences(const Enclosure& a, std::span<const PointBall> balls,
                                             MarginBounds& margins, std::size_t first) const {
  const Stage& last = architecture_.stages.back();
  const WeightSlot& slot = architecture_.slots[at(last.slot)];
  const double g = summation_error(slot.fan_in);
  Enclosure z;
  Enclosure rest;
  rest.centre.assign(a.centre);
  rest.radius.resize(a.count(), a.radius.shape());
  rest.radius.clear();
  std::vector<double> difference(at(slot.fan_in * outputs_));
  std::vector<double> moved(at(outputs_));
  const SequentialBlas sequential;
  const auto bound = [&](const auto& weights) {
    enclose_affine(slot, weights, rest, z, 1);
    for (Index c = 0; c < outputs_; ++c) {
      bool differenced = false;
      for (Index n = 0; n < a.count(); ++n) {
        if (labels_[at(balls[at(n)].point)] != c) continue;
        for (Index i = 0; !differenced && i < slot.fan_in; ++i) {
          const auto* w = weights.w.data() + i * outputs_;
          for (Index k = 0; k < outputs_; ++k) {
            difference[at(i * outputs_ + k)] = std::abs(static_cast<double>(w[c]) - static_cast<double>(w[k]));
          }
        }
        differenced = true;
        multiply({.m = 1, .n = outputs_, .k = slot.fan_in, .alpha = slot.w_scale}, a.radius.sample(n),
                 difference.data(), moved.data());
        const double* centre = z.centre.sample(n);
        const double* rounding = z.radius.sample(n);
        std::size_t to = first + at(n * margins.each);
        for (Index k = 0; k < outputs_; ++k) {
          if (k == c) continue;
          margins.centre[to] = centre[c] - centre[k];
          margins.radius[to++] = rounded_up((moved[at(k)] + rounding[c] + rounding[k]) * (1 + 2 * g) +
                                            std::abs(centre[c] - centre[k]) * g);
        }
      }
    }
  };
  std::visit([&](const auto& p) { bound(p.slots[at(last.slot)]); }, parameters_);
}

void NetworkMargins::bound_part(std::span<const PointBall> balls, MarginBounds& margins, std::size_t first) const {
  Enclosure values = begin(balls);
  const std::span<const Stage> stages(architecture_.stages);
  const std::size_t done = first_ ? *first_ + 1 : 0;
  if (differs_columns()) {
    enclose_stages(architecture_, parameters_, stages.subspan(done, stages.size() - 1 - done), values, 1);
    bound_class_differences(values, balls, margins, first);
    return;
  }
  enclose_stages(architecture_, parameters_, stages.subspan(done), values, 1);
  for (Index n = 0; n < values.count(); ++n) {
    const Index label = labels_[at(balls[at(n)].point)];
    const double* centre = values.centre.sample(n);
    const double* radius = values.radius.sample(n);
    std::size_t to = first + at(n * margins.each);
    if (outputs_ == 1) {
      margins.centre[to] = label == 1 ? centre[0] : -centre[0];
      margins.radius[to] = radius[0];
    }
    for (Index k = 0; outputs_ > 1 && k < outputs_; ++k) {
      if (k == label) continue;
      margins.centre[to] = centre[label] - centre[k];
      margins.radius[to] = rounded_up(radius[label] + radius[k] + std::abs(margins.centre[to]) * 0x1p-51);
      ++to;
    }
  }
}

MarginBounds NetworkMargins::evaluate(std::span<const PointBall> balls) const {
  MarginBounds margins;
  margins.each = std::max<Index>(1, outputs_ - 1);
  margins.centre.resize(balls.size() * at(margins.each));
  margins.radius.resize(margins.centre.size());
  const Index numbers = first_ && most_columns(architecture_, *first_ + 1) <= 16 ? cached_numbers : working_numbers;
  const Index size = std::max<Index>(1, numbers / widest(architecture_.stages));
  const Index parts = (std::ssize(balls) + size - 1) / size;
  parallel_for(parts, std::min<int>(threads_, static_cast<int>(std::max<Index>(parts, 1))), [&](Index part) {
    const auto first = at(part * size);
    bound_part(balls.subspan(first, std::min(at(size), balls.size() - first)), margins, first * at(margins.each));
  });
  return margins;
}

}  // namespace widelimit
