#include "widelimit/certificate/network/network_margins.hpp"

#include "widelimit/certificate/network/margin_parts.hpp"
#include "widelimit/certificate/network/network_bounds.hpp"

namespace widelimit {

NetworkMargins::NetworkMargins(const Architecture& architecture, const AnyParameters& parameters, Norm norm,
                               std::optional<Box> box, int threads)
    : architecture_(architecture),
      parameters_(parameters),
      box_(norm == Norm::linf ? box : std::nullopt),
      threads_(threads),
      outputs_(architecture.output.size()) {
  require_bounds(architecture.stages);
  std::visit([&](const auto& p) { require_match(architecture, p); }, parameters);
  if (!box_) first_ = exact_first_layer(architecture.stages, norm);
  // One layer alone: the columns that are subtracted see the coordinates themselves.
  if (outputs_ > 1 && norm == Norm::linf && first_ && *first_ + 1 == architecture.stages.size()) first_.reset();
  if (first_) columns_.emplace(architecture, *first_, parameters, nullptr, norm, threads);
}

Index NetworkMargins::points_at_once() const { return kept_points(architecture_, first_); }

void NetworkMargins::look_at(Tensor<double> points, std::span<const Index> labels) {
  points_ = std::move(points);
  labels_ = labels;
  if (columns_) columns_->look_at(points_, threads_);
}

/// Whether the last layer's columns are subtracted.
bool NetworkMargins::differs_columns() const {
  const Stage& last = architecture_.stages.back();
  const bool bounded_already = first_ && *first_ + 1 == architecture_.stages.size();
  return outputs_ > 1 && std::holds_alternative<Dense>(last.layer.value) && last.out.positions() == 1 &&
         !bounded_already;
}

MarginBounds NetworkMargins::bound_part(std::span<const Ball> balls, std::span<const Index> labels) const {
  Enclosure values = columns_ ? columns_->enclose(points_, balls) : enclose_coordinates(points_, balls, box_);
  const std::span<const Stage> stages(architecture_.stages);
  const std::size_t done = first_ ? *first_ + 1 : 0;
  if (!differs_columns()) {
    enclose_stages(architecture_, parameters_, stages.subspan(done), values, 1);
    return margins_of(values, labels);
  }
  enclose_stages(architecture_, parameters_, stages.subspan(done, stages.size() - 1 - done), values, 1);
  const auto slot = at(stages.back().slot);
  return std::visit(
      [&]<std::floating_point T>(const Parameters<T>& p) {
        return class_differences<T>(architecture_.slots[slot], p.slots[slot], nullptr, values, labels);
      },
      parameters_);
}

MarginBounds NetworkMargins::evaluate(std::span<const Ball> balls) const {
  const auto part = [&](std::span<const Ball> some, std::span<const Index> labels) { return bound_part(some, labels); };
  return margins_by_parts(architecture_, first_, balls, labels_, threads_, part);
}

}  // namespace widelimit
