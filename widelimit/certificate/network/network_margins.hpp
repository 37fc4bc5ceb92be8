#pragma once

#include "widelimit/certificate/network/enclose_affine.hpp"
#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/finite/parameters.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// Enclosures of the margins of a batch of balls, `each` per ball: f_c − f_k for every class k other than the point's
/// class c, in order of k, or ±f for one output (+ for label 1). The class is unchanged if all margins are positive.
struct MarginBounds {
  Index each = 1;
  std::vector<double> centre;
  std::vector<double> radius;

  MarginBounds() = default;
  MarginBounds(Index balls, Index outputs);
  /// Adds the margins of `other`, ball by ball.
  void add(const MarginBounds& other);
  /// Copies the margins of `part` to the balls from `ball` on.
  void put(Index ball, const MarginBounds& part);
};

/// Returns the margins of enclosed outputs; `labels` has one entry per sample.
[[nodiscard]] MarginBounds margins_of(const Enclosure& outputs, std::span<const Index> labels);

/// Returns the margins of a dense output layer at one position, with its weights minus those of `minus` if given: z_c −
/// z_k has the radius w_scale·Σ rᵢ|w_ic − w_ik|, at most the sum of the radii of z_c and z_k.
template <std::floating_point T>
[[nodiscard]] MarginBounds class_differences(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                                             const Enclosure& a, std::span<const Index> labels, const Engine& engine);

/// Computes the margins of a batch of balls whose points have these labels.
using MarginPart = std::function<MarginBounds(std::span<const Ball> balls, std::span<const Index> labels)>;

/// Number of points whose first-layer values fit into memory. `first`: the stage that FirstLayer evaluates, if any.
[[nodiscard]] Index kept_points(const Architecture& architecture, std::optional<std::size_t> first,
                                const Engine& engine);

/// Computes the margins of any number of balls in parts, one per thread, or sequentially on an engine with separate
/// memory. Parts are small if only vectors follow the first layer, so that a ball stays in cache from layer to layer,
/// and large if matrices follow, which are converted to float64 for each part. `labels` is indexed by point.
[[nodiscard]] MarginBounds margins_by_parts(const Architecture& architecture, std::optional<std::size_t> first,
                                            std::span<const Ball> balls, std::span<const Index> labels,
                                            const Engine& engine, const MarginPart& part);

/// Margins of one network on balls around points, by interval bound propagation. If the network begins with a dense or
/// conv layer, all widths are equal and no box restricts the ball, the first layer is exact (see FirstLayer). If the
/// network ends with a dense layer, its columns are subtracted before propagation.
class NetworkMargins {
 public:
  /// For ℓ2 the bound is over the whole ball, not only over its part in the box, which is sound. Borrows the network.
  /// Throws Error{usage} as require_bounds.
  NetworkMargins(const Architecture& architecture, const AnyParameters& parameters, BallShape shape,
                 const Engine& engine);

  /// Number of points whose first-layer values fit into memory.
  [[nodiscard]] Index points_at_once() const;
  /// Sets points and labels (0 … outputs − 1, or 0 and 1 for one output); `labels` must outlive the calls below.
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
  std::optional<std::size_t> first_;  ///< the stage of the exact first layer, if any
  std::optional<FirstLayer> columns_;
  Tensor<double> points_;
  std::span<const Index> labels_;
};

/// Margins of f − f₀, a network minus itself at initialisation, on balls around points. The difference is enclosed
/// layer by layer (difference_bounds.hpp): W − W₀ is small although W is not, so for two layers the interval does not
/// grow with the width, unlike that of f.
class DifferenceMargins {
 public:
  /// See NetworkMargins.
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
  std::vector<FirstLayer> columns_;  ///< of the network, its initial weights and the difference; or empty
  Tensor<double> points_;
  std::span<const Index> labels_;
};

}  // namespace widelimit
