#pragma once

#include "widelimit/certificate/network/enclosure.hpp"
#include "widelimit/finite/parameters.hpp"

namespace widelimit {

/// z = w_scale·aW + b_scale·b for all a enclosed: centre through W, radius through |W|, with g of (fan_in) terms
///   radius = w_scale·(radius + g·|centre|)|W| + g·|b_scale·b|, and (1 + 2g) times that,
/// which holds all rounding of both products. W and b are those given, less those of `minus` where there are any. They
/// are taken to float64 in tiles of columns, so that a wide matrix in float32 is never held again. Two products of rows
/// · fan_in · fan_out; numbers do not depend on the threads.
template <std::floating_point T>
void enclose_affine(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, const Enclosure& a,
                    Enclosure& z, int threads);

/// The centre alone.
template <std::floating_point T>
void affine_centre(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, const Tensor<double>& a,
                   Tensor<double>& z, int threads);

/// How far z moves at most when a moves inside a ball of radius 1, where `reach` is 1 for values of a that can move
/// and 0 for those that cannot (the edge of an image): the dual norm of the columns, Σ|w| for ℓ∞ and √Σw² for ℓ2.
template <std::floating_point T>
[[nodiscard]] Tensor<double> unit_radius_linf(const WeightSlot& slot, const Weights<T>& weights,
                                              const Weights<T>* minus, const Tensor<double>& reach, int threads);
template <std::floating_point T>
[[nodiscard]] Tensor<double> unit_radius_l2(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                                            const Tensor<double>& reach, int threads);

}  // namespace widelimit
