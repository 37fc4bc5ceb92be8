#pragma once

#include "widelimit/certificate/class_differences.hpp"
#include "widelimit/certificate/network/first_layer.hpp"
#include "widelimit/finite/parameters.hpp"

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// Margins of one network on balls around points, by interval bound propagation. Where the network begins with a dense
/// or conv layer and no box cuts the ball, the first layer is exact: its centres do not depend on the radius and are
/// computed once for a set of points, its radii are the radius times the dual norms of its columns. Where the network
/// ends with a dense layer, columns are subtracted before intervals pass them.
class NetworkMargins {
 public:
  /// `box`: samples lie in it; only for ℓ∞ (in ℓ2 the whole ball is bounded, which is sound). Borrows the network.
  /// Error{usage} as require_bounds.
  NetworkMargins(const Architecture& architecture, const AnyParameters& parameters, Norm norm, std::optional<Box> box,
                 int threads);

  /// Points whose first layers fit in memory together.
  [[nodiscard]] Index points_at_once() const;
  /// Points and their labels, 0 … outputs − 1, or 0 and 1 for one output; the labels must outlive the calls below.
  void look_at(Tensor<double> points, std::span<const Index> labels);
  [[nodiscard]] MarginBounds evaluate(std::span<const Ball> balls) const;

 private:
  [[nodiscard]] MarginBounds bound_part(std::span<const Ball> balls, std::span<const Index> labels) const;
  [[nodiscard]] bool differs_columns() const;

  const Architecture& architecture_;
  const AnyParameters& parameters_;
  std::optional<Box> box_;
  int threads_;
  Index outputs_;
  std::optional<std::size_t> first_;  ///< the stage whose columns bound the ball, where there is one
  std::optional<FirstLayer> columns_;
  Tensor<double> points_;
  std::span<const Index> labels_;
};

}  // namespace widelimit
