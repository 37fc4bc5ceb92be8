#pragma once

#include "widelimit/certificate/ball.hpp"
#include "widelimit/certificate/enclosure.hpp"
#include "widelimit/finite/parameters.hpp"

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// A ball around one of the points that are looked at.
struct PointBall {
  Index point = 0;
  double radius = 0;
};

/// Enclosures of the margins of some balls, `each` of them to a ball: f_c − f_k for every class k but the point's own
/// c, in order of k, or ±f for one output (+ for label 1). The point keeps its class where all are positive.
struct MarginBounds {
  Index each = 1;
  std::vector<double> centre;
  std::vector<double> radius;
};

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
  [[nodiscard]] MarginBounds evaluate(std::span<const PointBall> balls) const;

 private:
  [[nodiscard]] Enclosure begin(std::span<const PointBall> balls) const;
  [[nodiscard]] Enclosure begin_by_columns(std::span<const PointBall> balls) const;
  [[nodiscard]] Enclosure begin_by_coordinates(std::span<const PointBall> balls) const;
  void bound_class_differences(const Enclosure& a, std::span<const PointBall> balls, MarginBounds& margins,
                               std::size_t first) const;
  void bound_part(std::span<const PointBall> balls, MarginBounds& margins, std::size_t first) const;
  [[nodiscard]] bool differs_columns() const;  ///< whether the last layer's columns are subtracted

  const Architecture& architecture_;
  const AnyParameters& parameters_;
  Norm norm_;
  std::optional<Box> box_;
  int threads_;
  Index outputs_;
  std::optional<std::size_t> first_;  ///< the stage whose columns bound the ball, where there is one
  Tensor<double> points_;
  std::span<const Index> labels_;
  Tensor<double> centres_;  ///< after first_
  Tensor<double> unit_;     ///< after first_: radii of the unit ball
};

}  // namespace widelimit
