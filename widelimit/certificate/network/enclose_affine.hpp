#pragma once

#include "widelimit/certificate/ball.hpp"
#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/parameters.hpp"

#include <optional>
#include <span>

namespace widelimit {

/// The weights of a layer, less those of `minus` where there are any, where an engine works: all columns.
template <std::floating_point T>
[[nodiscard]] WeightColumns<T> columns_where(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                                             const Engine& engine) {
  const auto& layers = layers_of<T>(engine);
  const auto numbers = [&](const Weights<T>& any) { return layers ? any.w.read(layers) : any.w.data(); };
  return {.w = numbers(weights),
          .minus = minus == nullptr ? nullptr : numbers(*minus),
          .rows = slot.fan_in,
          .cols = slot.fan_out,
          .first = 0,
          .width = slot.fan_out};
}

/// z = w_scale·aW + b_scale·b for all a enclosed: centre through W, radius through |W|, with g of (fan_in) terms
///   radius = w_scale·(radius + g·|centre|)|W| + g·|b_scale·b|, and (1 + 2g) times that,
/// which holds all rounding of both products. A radius that is null is 0: then that of z is its rounding. W and b are
/// those given, less those of `minus` where there are any. They are taken to float64 in tiles of columns, so that a
/// wide matrix in float32 is never held again. Two products of rows · fan_in · fan_out; numbers do not depend on the
/// threads.
template <std::floating_point T>
void enclose_affine(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                    const Tensor<double>& centre, const Tensor<double>* radius, Enclosure& z, const Engine& engine);
template <std::floating_point T>
void enclose_affine(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, const Enclosure& a,
                    Enclosure& z, const Engine& engine) {
  enclose_affine(slot, weights, minus, a.centre, &a.radius, z, engine);
}

/// The centre alone.
template <std::floating_point T>
void affine_centre(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, const Tensor<double>& a,
                   Tensor<double>& z, const Engine& engine);

/// How far z moves at most when a moves inside a ball of radius 1, where `reach` is 1 for values of a that can move
/// and 0 for those that cannot (the edge of an image): the dual norm of the columns, Σ|w| for ℓ∞ and √Σw² for ℓ2.
template <std::floating_point T>
[[nodiscard]] Tensor<double> unit_radius_linf(const WeightSlot& slot, const Weights<T>& weights,
                                              const Weights<T>* minus, const Tensor<double>& reach,
                                              const Engine& engine);
template <std::floating_point T>
[[nodiscard]] Tensor<double> unit_radius_l2(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                                            const Tensor<double>& reach, const Engine& engine);

/// The stage whose columns bound a ball exactly: the first, where it is dense or conv and at most a change of shape
/// stands before it. A circular window may see a pixel twice, and then the ℓ2 norm of its column does not bound the
/// sum.
[[nodiscard]] std::optional<std::size_t> exact_first_layer(const std::vector<Stage>& stages, Norm norm);

/// What the matrix of a dense or conv stage multiplies.
[[nodiscard]] Tensor<double> seen_by(const Stage& stage, const Tensor<double>& input, const Engine& engine);

/// The first layer on balls without a box: centres do not depend on the radius and are computed once for a set of
/// points, radii are the radius times the dual norms of the columns. Of the weights, or of their difference from
/// `minus`, which is the first layer of the difference of two networks.
class FirstLayer {
 public:
  FirstLayer(const Architecture& architecture, std::size_t stage, const AnyParameters& parameters,
             const AnyParameters* minus, Norm norm, const Engine& engine);

  void set_points(const Tensor<double>& points, const Engine& engine);
  /// Values after the stage.
  [[nodiscard]] Enclosure enclose(const Tensor<double>& points, std::span<const Ball> balls,
                                  const Engine& engine) const;

 private:
  const Architecture& architecture_;
  const Stage& stage_;
  const AnyParameters& parameters_;
  const AnyParameters* minus_;
  Norm norm_;
  Tensor<double> unit_;     ///< radii of the unit ball
  Tensor<double> centres_;  ///< of the points
};

/// Balls cut by a box, of different widths, or before anything that FirstLayer could begin with: an interval for each
/// coordinate. In ℓ2 a box cuts nothing.
[[nodiscard]] Enclosure enclose_coordinates(const Tensor<double>& points, std::span<const Ball> balls,
                                            const BallShape& shape);

}  // namespace widelimit
