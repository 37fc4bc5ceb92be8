#include "widelimit/certificate/network/difference_margins.hpp"

#include "widelimit/certificate/network/difference_bounds.hpp"
#include "widelimit/certificate/network/network_bounds.hpp"

#include <utility>

namespace widelimit {

DifferenceMargins::DifferenceMargins(const Architecture& architecture, const AnyParameters& trained,
                                     const AnyParameters& start, Norm norm, std::optional<Box> box, int threads)
    : architecture_(architecture),
      trained_(trained),
      start_(start),
      box_(norm == Norm::linf ? box : std::nullopt),
      threads_(threads) {
  require_bounds(architecture.stages);
  std::visit([&](const auto& p) { require_match(architecture, p); }, trained);
  std::visit([&](const auto& p) { require_match(architecture, p); }, start);
  if (!box_) first_ = exact_first_layer(architecture.stages, norm);
  if (!first_) return;
  columns_.emplace_back(architecture, *first_, trained, nullptr, norm, threads);
  columns_.emplace_back(architecture, *first_, start, nullptr, norm, threads);
  columns_.emplace_back(architecture, *first_, trained, &start, norm, threads);
}

void DifferenceMargins::look_at(Tensor<double> points, std::span<const Index> labels) {
  points_ = std::move(points);
  labels_ = labels;
  for (FirstLayer& layer : columns_) layer.look_at(points_, threads_);
}

MarginBounds DifferenceMargins::bound_part(std::span<const Ball> balls, std::span<const Index> labels) const {
  EnclosedPair pair;
  if (first_) {
    pair = {columns_[0].enclose(points_, balls), columns_[1].enclose(points_, balls),
            columns_[2].enclose(points_, balls)};
  } else {
    pair.trained = enclose_coordinates(points_, balls, box_);
    pair.start = pair.trained;
    pair.difference.resize(pair.trained.count(), pair.trained.centre.shape());  // both see one x
    pair.difference.centre.clear();
    pair.difference.radius.clear();
  }
  const std::span<const Stage> stages(architecture_.stages);
  const std::size_t done = first_ ? *first_ + 1 : 0;
  const Stage& last = stages.back();
  const bool subtracts = done < stages.size() && std::holds_alternative<Dense>(last.layer.value) &&
                         last.out.positions() == 1 && last.out.size() > 1;
  enclose_difference(architecture_, trained_, start_, stages.subspan(done, stages.size() - done - (subtracts ? 1 : 0)),
                     pair);
  if (!subtracts) return margins_of(pair.difference, labels);
  const auto k = at(last.slot);
  WeightSlot unbiased = architecture_.slots[k];
  unbiased.b_scale = 0;
  return std::visit(
      [&]<std::floating_point T>(const Parameters<T>& trained) {
        const Weights<T>& start = std::get<Parameters<T>>(start_).slots[k];
        MarginBounds margins =
            class_differences<T>(architecture_.slots[k], trained.slots[k], &start, pair.trained, labels);
        margins.add(class_differences<T>(unbiased, start, nullptr, pair.difference, labels));
        return margins;
      },
      trained_);
}

MarginBounds DifferenceMargins::evaluate(std::span<const Ball> balls) const {
  return margins_by_parts(
      architecture_, first_, balls, labels_, threads_,
      [&](std::span<const Ball> some, std::span<const Index> labels) { return bound_part(some, labels); });
}

}  // namespace widelimit
