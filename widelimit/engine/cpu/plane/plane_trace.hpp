#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/cpu/features.hpp"
#include "widelimit/engine/cpu/plane/plane.hpp"
#include "widelimit/engine/cpu/plane/plane_program.hpp"

#include <array>
#include <vector>

/// What planes need to know of single images, 16 images at a time.
///
/// Covariances are carried relative to a scale R of each image, Σ̂ = Σ/(R R'), so that neither inputs of 1e±150 nor
/// deep networks leave the range of float. R follows the network where that costs nothing (a factor σ_w, the slope of
/// an activation) and is set to the largest deviation where it must be multiplied out anyway.
namespace widelimit::cpu {

using LaneNumbers = std::array<double, static_cast<std::size_t>(plane_lanes)>;

/// One operation on one side. Σ̂ ← (gain·gain')·A(Σ̂) + constant·constant'; join weighs its branches by gain and
/// constant; Θ̂ of an activation is multiplied by theta·theta'. `plain`: gain 1, constant 0, theta² the scale of the
/// window.
struct OpTrace {
  /// Place 16p + lane. Activations: their own numbers, then R/r before and r/R after; layer_norm: R/r.
  Features features;
  LaneNumbers gain, constant, theta;
  bool plain = true;
};

template <typename T>
struct GroupTrace {
  Matrix<T> x;                            ///< inputs over R√C, value c of position p of 16 images from 16(pC + c) on
  std::vector<std::vector<OpTrace>> ops;  ///< by stage
  LaneNumbers scale{};                    ///< R at the end
  std::vector<LaneNumbers> begin_scale;   ///< R at the begin of each stage
};

/// Images `first` … of x, as many as there are, the last of them repeated up to 16. Values that planes multiply are
/// rounded to T before variances are taken from them, so that equal patches stay equal. Where an activation follows
/// pooling, its variances come from the planes of each image with itself.
template <typename T>
[[nodiscard]] GroupTrace<T> trace_group(const Recipe& recipe, const PlaneProgram& program, const SampleView& x,
                                        Index first, Precision precision, double* error);

}  // namespace widelimit::cpu
