#pragma once

#include "widelimit/certificate/ball.hpp"
#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/parameters.hpp"

#include <optional>
#include <span>

namespace widelimit {

/// Returns all columns of a layer's weights, minus those of `minus` if given, in the memory where the engine works.
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

/// Encloses z = w_scale·aW + b_scale·b for all enclosed a: the centre is multiplied by W, the radius by |W|, with g the
/// rounding factor of fan_in terms:
///   radius = w_scale·(radius + g·|centre|)|W| + g·|b_scale·b|, times (1 + 2g),
/// which covers the rounding of both products. A null radius means 0: the radius of z is then its rounding error. W and
/// b are the given weights, minus those of `minus` if given. They are converted to float64 in tiles of columns, so a
/// wide float32 matrix is never copied as a whole. Two products of rows · fan_in · fan_out; results do not depend on
/// the number of threads.
template <std::floating_point T>
void enclose_affine(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                    const Tensor<double>& centre, const Tensor<double>* radius, Enclosure& z, const Engine& engine);
template <std::floating_point T>
void enclose_affine(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, const Enclosure& a,
                    Enclosure& z, const Engine& engine) {
  enclose_affine(slot, weights, minus, a.centre, &a.radius, z, engine);
}

/// Computes only the centre.
template <std::floating_point T>
void affine_centre(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, const Tensor<double>& a,
                   Tensor<double>& z, const Engine& engine);

/// Returns how far z can move if a moves inside a ball of radius 1, where `reach` is 1 for values of a that can move
/// and 0 for those that cannot (padding): the dual norm of the columns, Σ|w| for ℓ∞ and √Σw² for ℓ2.
template <std::floating_point T>
[[nodiscard]] Tensor<double> unit_radius_linf(const WeightSlot& slot, const Weights<T>& weights,
                                              const Weights<T>* minus, const Tensor<double>& reach,
                                              const Engine& engine);
template <std::floating_point T>
[[nodiscard]] Tensor<double> unit_radius_l2(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                                            const Tensor<double>& reach, const Engine& engine);

/// Returns the stage whose column norms bound a ball exactly: the first, if it is dense or conv, with at most a reshape
/// before it. A circular window may read a pixel twice; then the ℓ2 norm of a column is no bound.
[[nodiscard]] std::optional<std::size_t> exact_first_layer(const std::vector<Stage>& stages, Norm norm);

/// Returns the input of the matrix of a dense or conv stage.
[[nodiscard]] Tensor<double> gather_patches(const Stage& stage, const Tensor<double>& input, const Engine& engine);

/// The first layer on balls without a box. Centres do not depend on the radius and are computed once per set of points;
/// radii are the ball radius times the dual norms of the columns. Uses the weights, or their difference from `minus`:
/// the first layer of the difference of two networks.
class FirstLayer {
 public:
  FirstLayer(const Architecture& architecture, std::size_t stage, const AnyParameters& parameters,
             const AnyParameters* minus, Norm norm, const Engine& engine);

  void set_points(const Tensor<double>& points, const Engine& engine);
  /// Returns the enclosure of the stage's output.
  [[nodiscard]] Enclosure enclose(const Tensor<double>& points, std::span<const Ball> balls,
                                  const Engine& engine) const;

 private:
  const Architecture& architecture_;
  const Stage& stage_;
  const AnyParameters& parameters_;
  const AnyParameters* minus_;
  Norm norm_;
  Tensor<double> unit_;     ///< radii of the unit ball
  Tensor<double> centres_;  ///< one per point
};

/// Returns one interval per coordinate, for balls with a box, with different widths, or if FirstLayer does not apply.
/// For ℓ2, a box is ignored.
[[nodiscard]] Enclosure enclose_coordinates(const Tensor<double>& points, std::span<const Ball> balls,
                                            const BallShape& shape);

}  // namespace widelimit
