#pragma once

#include "widelimit/certificate/network/enclose_affine.hpp"
#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/finite/parameters.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// Enclosures of the margins of some balls, `each` of them to a ball: f_c − f_k for every class k but the point's own
/// c, in order of k, or ±f for one output (+ for label 1). The point keeps its class where all are positive.
struct MarginBounds {
  Index each = 1;
  std::vector<double> centre;
  std::vector<double> radius;

  MarginBounds() = default;
  MarginBounds(Index balls, Index outputs);
  /// Sum of two, ball by ball.
  void add(const MarginBounds& other);
  /// Those of `part` in place of as many from `ball` on.
  void put(Index ball, const MarginBounds& part);
};

/// Margins of outputs that are enclosed already; `labels` has one for each sample.
[[nodiscard]] MarginBounds margins_of(const Enclosure& outputs, std::span<const Index> labels);

/// Margins of the outputs of a dense layer at one position, of its weights less those of `minus` where there are any:
/// z_c − z_k has the radius w_scale·Σ rᵢ|w_ic − w_ik|, less than those of z_c and z_k together.
template <std::floating_point T>
[[nodiscard]] MarginBounds class_differences(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                                             const Enclosure& a, std::span<const Index> labels, const Engine& engine);

/// Margins of some balls, whose points have these labels.
using MarginPart = std::function<MarginBounds(std::span<const Ball> balls, std::span<const Index> labels)>;

/// Points whose first layers fit in memory together. `first`: the stage that FirstLayer begins with, if any.
[[nodiscard]] Index kept_points(const Architecture& architecture, std::optional<std::size_t> first,
                                const Engine& engine);

/// Margins of any number of balls by parts, each on one thread, or one after the other where an engine has memory of
/// its own: parts are small where only vectors follow the first layer, so that a ball stays in the caches from layer to
/// layer, and large where matrices follow, which are taken to float64 again for each part. `labels` is by point.
[[nodiscard]] MarginBounds margins_by_parts(const Architecture& architecture, std::optional<std::size_t> first,
                                            std::span<const Ball> balls, std::span<const Index> labels,
                                            const Engine& engine, const MarginPart& part);

/// Margins of one network on balls around points, by interval bound propagation. Where the network begins with a dense
/// or conv layer, all widths are equal and no box cuts the ball, the first layer is exact: its centres do not depend on
/// the radius and are computed once for a set of points, its radii are the radius times the dual norms of its columns.
/// Where the network ends with a dense layer, columns are subtracted before intervals pass them.
class NetworkMargins {
 public:
  /// In ℓ2 the whole ball is bounded, not only its part in the box, which is sound. Borrows the network.
  /// Error{usage} as require_bounds.
  NetworkMargins(const Architecture& architecture, const AnyParameters& parameters, BallShape shape,
                 const Engine& engine);

  /// Points whose first layers fit in memory together.
  [[nodiscard]] Index points_at_once() const;
  /// Points and their labels, 0 … outputs − 1, or 0 and 1 for one output; the labels must outlive the calls below.
  void set_points(Tensor<double> points, std::span<const Index> labels);
  [[nodiscard]] MarginBounds evaluate(std::span<const Ball> balls) const;

 private:
  [[nodiscard]] MarginBounds bound_part(std::span<const Ball> balls, std::span<const Index> labels) const;
  [[nodiscard]] bool differs_columns() const;

  const Architecture& architecture_;
  const AnyParameters& parameters_;
  BallShape shape_;
  const Engine& engine_;
  Index outputs_;
  std::optional<std::size_t> first_;  ///< the stage whose columns bound the ball, where there is one
  std::optional<FirstLayer> columns_;
  Tensor<double> points_;
  std::span<const Index> labels_;
};

/// Margins of f − f₀, a network less itself at the start, on balls around points. The difference of the two is enclosed
/// layer by layer (difference_bounds.hpp): W − W₀ is small where W is not, so that with two layers the interval does
/// not grow with the width as that of f does.
class DifferenceMargins {
 public:
  /// As NetworkMargins.
  DifferenceMargins(const Architecture& architecture, const AnyParameters& trained, const AnyParameters& start,
                    BallShape shape, const Engine& engine);

  [[nodiscard]] Index points_at_once() const { return kept_points(architecture_, first_, engine_) / 3 + 1; }
  void set_points(Tensor<double> points, std::span<const Index> labels);
  [[nodiscard]] MarginBounds evaluate(std::span<const Ball> balls) const;

 private:
  [[nodiscard]] MarginBounds bound_part(std::span<const Ball> balls, std::span<const Index> labels) const;

  const Architecture& architecture_;
  const AnyParameters& trained_;
  const AnyParameters& start_;
  BallShape shape_;
  const Engine& engine_;
  std::optional<std::size_t> first_;
  std::vector<FirstLayer> columns_;  ///< of the network, of its start, of the difference; or none
  Tensor<double> points_;
  std::span<const Index> labels_;
};

}  // namespace widelimit
