#include "widelimit/certificate/network/network_margins.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/certificate/network/difference_bounds.hpp"
#include "widelimit/certificate/network/enclose_affine.hpp"
#include "widelimit/certificate/network/network_bounds.hpp"
#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <utility>

namespace widelimit {

namespace {

/// Returns w_scale·Σᵢ rᵢ|w_ic − w_ik| of samples `rows` and all outputs k, one row per sample.
template <std::floating_point T>
Tensor<double> moved_by_columns(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, Index c,
                                const Tensor<double>& radius, std::span<const Index> rows, const Engine& engine) {
  const Index outputs = slot.fan_out;
  Tensor<double> distance;
  distance.resize(slot.fan_in, {1, 1, outputs});
  enclosures_of(engine)->column_distances(columns_where(slot, weights, minus, engine), c,
                                          write_where(distance, engine));
  Tensor<double> moved(std::ssize(rows), {1, 1, outputs});
  if (const auto& layers = layers_of<double>(engine)) {
    Tensor<double> some;
    some.resize(std::ssize(rows), radius.shape());
    layers->take_rows(radius.read(layers).data, slot.fan_in, rows, some.write(layers).data);
    layers->product(slot.w_scale, Transpose::no, some.read(layers), Transpose::no, distance.read(layers), 0,
                    moved.write(layers));
    return moved;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    host::multiply(slot.w_scale, Transpose::yes, distance.matrix(), {radius.sample(rows[i]), usize(slot.fan_in)}, 0,
                   {moved.sample(static_cast<Index>(i)), usize(outputs)});
  }
  return moved;
}

}  // namespace

MarginBounds::MarginBounds(Index balls, Index outputs)
    : each(std::max<Index>(1, outputs - 1)), centre(usize(balls * each)), radius(usize(balls * each)) {}

void MarginBounds::add(const MarginBounds& other) {
  for (std::size_t i = 0; i < centre.size(); ++i) {
    centre[i] += other.centre[i];
    radius[i] = above(radius[i] + other.radius[i] + std::abs(centre[i]) * 0x1p-51);
  }
}

void MarginBounds::put(Index ball, const MarginBounds& part) {
  std::copy(part.centre.begin(), part.centre.end(), centre.begin() + ball * each);
  std::copy(part.radius.begin(), part.radius.end(), radius.begin() + ball * each);
}

MarginBounds margins_of(const Enclosure& outputs, std::span<const Index> labels) {
  const Index count = outputs.centre.shape().size();
  MarginBounds margins(outputs.count(), count);
  std::size_t to = 0;
  for (Index n = 0; n < outputs.count(); ++n) {
    const Index label = labels[usize(n)];
    const double* centre = outputs.centre.sample(n);
    const double* radius = outputs.radius.sample(n);
    if (count == 1) {
      margins.centre[to] = label == 1 ? centre[0] : -centre[0];
      margins.radius[to++] = radius[0];
      continue;
    }
    for (Index k = 0; k < count; ++k) {
      if (k == label) continue;
      margins.centre[to] = centre[label] - centre[k];
      margins.radius[to] = above(radius[label] + radius[k] + std::abs(margins.centre[to]) * 0x1p-51);
      ++to;
    }
  }
  return margins;
}

template <std::floating_point T>
MarginBounds class_differences(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                               const Enclosure& a, std::span<const Index> labels, const Engine& engine) {
  const Index outputs = slot.fan_out;
  const double g = summation_error(slot.fan_in);
  // With a zero input radius, the radii of z_c and z_k are their rounding errors.
  Enclosure z;
  enclose_affine<T>(slot, weights, minus, a.centre, nullptr, z, engine);
  MarginBounds margins = margins_of(z, labels);
  std::vector<std::vector<Index>> of_class(usize(outputs));
  for (Index n = 0; n < a.count(); ++n) of_class[usize(labels[usize(n)])].push_back(n);
  for (Index c = 0; c < outputs; ++c) {
    const std::vector<Index>& rows = of_class[usize(c)];
    if (rows.empty()) continue;
    const Tensor<double> moved = moved_by_columns(slot, weights, minus, c, a.radius, rows, engine);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double* const by = moved.sample(static_cast<Index>(i));
      std::size_t to = usize(rows[i] * margins.each);
      for (Index k = 0; k < outputs; ++k) {
        if (k == c) continue;
        margins.radius[to] = above((margins.radius[to] + by[k]) * (1 + 2 * g) +
                                   static_cast<double>(slot.fan_in + 16) * underflow * std::max(1.0, slot.w_scale));
        ++to;
      }
    }
  }
  return margins;
}

template MarginBounds class_differences(const WeightSlot&, const Weights<float>&, const Weights<float>*,
                                        const Enclosure&, std::span<const Index>, const Engine&);
template MarginBounds class_differences(const WeightSlot&, const Weights<double>&, const Weights<double>*,
                                        const Enclosure&, std::span<const Index>, const Engine&);

namespace {

/// Limits on the number of stored values: first layers that are kept, and the widest activation of the balls of one
/// part.
constexpr Index kept_numbers = Index{1} << 26;
constexpr Index cached_numbers = Index{1} << 16;
constexpr Index working_numbers = Index{1} << 23;
/// Maximum number of columns of a matrix that is treated like a vector.
constexpr Index few_columns = 16;
/// The same on an engine with separate memory, limited by fractions of its free memory: large batches amortise
/// launches, and centres, radii, products and windows of three networks are stored at the same time.
constexpr Index engine_kept_numbers = Index{1} << 28;
constexpr Index engine_working_numbers = Index{1} << 25;
constexpr Index kept_shares = 16;
constexpr Index working_shares = 64;

/// Returns `most`, limited to 1/shares of the free memory.
Index numbers_within(const LayerPasses<double>& layers, Index most, Index shares) {
  return std::min(most, static_cast<Index>(layers.free_bytes() / sizeof(double)) / shares);
}

/// Returns the number of values of the widest stage, including the windows of convolutions.
Index widest(const std::vector<Stage>& stages) {
  Index most = 1;
  for (const Stage& stage : stages) {
    Index numbers = std::max(stage.in.size(), stage.out.size());
    if (std::holds_alternative<Conv>(stage.layer.value)) {
      numbers += stage.out.positions() * stage.windows->size() * stage.in.channels;
    }
    most = std::max({most, numbers, widest(stage.branch) + stage.in.size(), widest(stage.shortcut) + stage.in.size()});
  }
  return most;
}

bool only_vectors_follow(const Architecture& architecture, std::size_t first) {
  return std::all_of(architecture.stages.begin() + static_cast<Index>(first) + 1, architecture.stages.end(),
                     [](const Stage& stage) {
                       return std::holds_alternative<Activation>(stage.layer.value) || stage.out.size() <= few_columns;
                     });
}

}  // namespace

Index kept_points(const Architecture& architecture, std::optional<std::size_t> first, const Engine& engine) {
  const Index kept = first ? architecture.stages[*first].out.size() : architecture.input.size();
  const auto& layers = layers_of<double>(engine);
  return std::max<Index>(1, (layers ? numbers_within(*layers, engine_kept_numbers, kept_shares) : kept_numbers) / kept);
}

MarginBounds margins_by_parts(const Architecture& architecture, std::optional<std::size_t> first,
                              std::span<const Ball> balls, std::span<const Index> labels, const Engine& engine,
                              const MarginPart& part) {
  MarginBounds margins(std::ssize(balls), architecture.output.size());
  const auto& layers = layers_of<double>(engine);
  const Index here = first && only_vectors_follow(architecture, *first) ? cached_numbers : working_numbers;
  const Index numbers = layers ? numbers_within(*layers, engine_working_numbers, working_shares) : here;
  const Index size = std::max<Index>(1, numbers / widest(architecture.stages));
  const Index parts = (std::ssize(balls) + size - 1) / size;
  const auto one = [&](Index p) {
    const auto some = balls.subspan(usize(p * size), usize(std::min(size, std::ssize(balls) - p * size)));
    std::vector<Index> ball_labels;
    for (const Ball& ball : some) ball_labels.push_back(labels[usize(ball.point)]);
    margins.put(p * size, part(some, ball_labels));
  };
  if (!layers) {
    engine.for_each(parts, one);
    return margins;
  }
  for (Index p = 0; p < parts; ++p) {
    interruption_point();
    one(p);
  }
  return margins;
}

namespace {

/// Returns the first layer if it is exact: balls of equal width that no box restricts.
std::optional<std::size_t> first_layer_of(const Architecture& architecture, const BallShape& shape) {
  const bool cut = shape.box && shape.norm == Norm::linf;
  return cut || !shape.widths.empty() ? std::nullopt : exact_first_layer(architecture.stages, shape.norm);
}

}  // namespace

NetworkMargins::NetworkMargins(const Architecture& architecture, const AnyParameters& parameters, BallShape shape,
                               const Engine& engine)
    : architecture_(architecture),
      parameters_(parameters),
      shape_(std::move(shape)),
      engine_(engine),
      outputs_(architecture.output.size()) {
  require_bounds(architecture.stages);
  std::visit([&](const auto& p) { require_match(architecture, p); }, parameters);
  first_ = first_layer_of(architecture, shape_);
  // With a single layer, subtracting its columns on the coordinates themselves is tighter.
  if (outputs_ > 1 && shape_.norm == Norm::linf && first_ && *first_ + 1 == architecture.stages.size()) first_.reset();
  if (first_) columns_.emplace(architecture, *first_, parameters, nullptr, shape_.norm, engine);
}

Index NetworkMargins::points_at_once() const { return kept_points(architecture_, first_, engine_); }

void NetworkMargins::set_points(Tensor<double> points, std::span<const Index> labels) {
  points_ = std::move(points);
  labels_ = labels;
  if (columns_) columns_->set_points(points_, engine_);
}

/// Returns whether columns of the last layer are subtracted.
bool NetworkMargins::differs_columns() const {
  const Stage& last = architecture_.stages.back();
  const bool bounded_already = first_ && *first_ + 1 == architecture_.stages.size();
  return outputs_ > 1 && std::holds_alternative<Dense>(last.layer.value) && last.out.positions() == 1 &&
         !bounded_already;
}

MarginBounds NetworkMargins::bound_part(std::span<const Ball> balls, std::span<const Index> labels) const {
  Enclosure values =
      columns_ ? columns_->enclose(points_, balls, engine_) : enclose_coordinates(points_, balls, shape_);
  const std::span<const Stage> stages(architecture_.stages);
  const std::size_t done = first_ ? *first_ + 1 : 0;
  if (!differs_columns()) {
    enclose_stages(architecture_, parameters_, stages.subspan(done), values, engine_);
    return margins_of(values, labels);
  }
  enclose_stages(architecture_, parameters_, stages.subspan(done, stages.size() - 1 - done), values, engine_);
  const auto slot = usize(stages.back().slot);
  return std::visit(
      [&]<std::floating_point T>(const Parameters<T>& p) {
        return class_differences<T>(architecture_.slots[slot], p.slots[slot], nullptr, values, labels, engine_);
      },
      parameters_);
}

MarginBounds NetworkMargins::evaluate(std::span<const Ball> balls) const {
  const auto part = [&](std::span<const Ball> some, std::span<const Index> labels) { return bound_part(some, labels); };
  return margins_by_parts(architecture_, first_, balls, labels_, engine_, part);
}

DifferenceMargins::DifferenceMargins(const Architecture& architecture, const AnyParameters& trained,
                                     const AnyParameters& start, BallShape shape, const Engine& engine)
    : architecture_(architecture), trained_(trained), start_(start), shape_(std::move(shape)), engine_(engine) {
  require_bounds(architecture.stages);
  std::visit([&](const auto& p) { require_match(architecture, p); }, trained);
  std::visit([&](const auto& p) { require_match(architecture, p); }, start);
  first_ = first_layer_of(architecture, shape_);
  if (!first_) return;
  columns_.emplace_back(architecture, *first_, trained, nullptr, shape_.norm, engine);
  columns_.emplace_back(architecture, *first_, start, nullptr, shape_.norm, engine);
  columns_.emplace_back(architecture, *first_, trained, &start, shape_.norm, engine);
}

void DifferenceMargins::set_points(Tensor<double> points, std::span<const Index> labels) {
  points_ = std::move(points);
  labels_ = labels;
  for (FirstLayer& layer : columns_) layer.set_points(points_, engine_);
}

MarginBounds DifferenceMargins::bound_part(std::span<const Ball> balls, std::span<const Index> labels) const {
  EnclosedPair pair;
  if (first_) {
    pair = {columns_[0].enclose(points_, balls, engine_), columns_[1].enclose(points_, balls, engine_),
            columns_[2].enclose(points_, balls, engine_)};
  } else {
    pair.trained = enclose_coordinates(points_, balls, shape_);
    pair.start = pair.trained;
    pair.difference.resize(pair.trained.count(), pair.trained.centre.shape());  // both networks have the same input
    pair.difference.centre.clear();
    pair.difference.radius.clear();
  }
  const std::span<const Stage> stages(architecture_.stages);
  const std::size_t done = first_ ? *first_ + 1 : 0;
  const Stage& last = stages.back();
  const bool subtracts = done < stages.size() && std::holds_alternative<Dense>(last.layer.value) &&
                         last.out.positions() == 1 && last.out.size() > 1;
  enclose_difference(architecture_, trained_, start_, stages.subspan(done, stages.size() - done - (subtracts ? 1 : 0)),
                     engine_, pair);
  if (!subtracts) return margins_of(pair.difference, labels);
  const auto k = usize(last.slot);
  WeightSlot unbiased = architecture_.slots[k];
  unbiased.b_scale = 0;
  return std::visit(
      [&]<std::floating_point T>(const Parameters<T>& trained) {
        const Weights<T>& start = std::get<Parameters<T>>(start_).slots[k];
        MarginBounds margins =
            class_differences<T>(architecture_.slots[k], trained.slots[k], &start, pair.trained, labels, engine_);
        margins.add(class_differences<T>(unbiased, start, nullptr, pair.difference, labels, engine_));
        return margins;
      },
      trained_);
}

MarginBounds DifferenceMargins::evaluate(std::span<const Ball> balls) const {
  return margins_by_parts(
      architecture_, first_, balls, labels_, engine_,
      [&](std::span<const Ball> some, std::span<const Index> labels) { return bound_part(some, labels); });
}

}  // namespace widelimit
