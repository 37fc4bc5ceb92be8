#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/cpu/features.hpp"
#include "widelimit/engine/cpu/plane/plane.hpp"
#include "widelimit/engine/cpu/plane/plane_program.hpp"

#include <array>
#include <vector>

/// Per-image data for displacement planes, in groups of 16 images.
///
/// Covariances are stored relative to a scale R of each image, Σ̂ = Σ/(R R'), so that neither inputs of 1e±150 nor deep
/// networks exceed the range of float. R follows the network where that is free (a factor σ_w, the slope of an
/// activation) and is reset to the largest standard deviation where a multiplication is needed anyway.
namespace widelimit::cpu {

using LaneNumbers = std::array<double, static_cast<std::size_t>(plane_lanes)>;

/// One operation on one side. Σ̂ ← (gain·gain')·A(Σ̂) + constant·constant'; join weights its branches by gain and
/// constant; an activation multiplies Θ̂ by theta·theta'. `plain`: gain 1, constant 0, theta² equal to the scale of the
/// window.
struct OpTrace {
  /// Index 16p + lane. Activations: their own features, then R/r before and r/R after; layer_norm: R/r.
  Features features;
  LaneNumbers gain, constant, theta;
  bool plain = true;
};

template <typename T>
struct GroupTrace {
  Matrix<T> x;                            ///< inputs over R√C, value c of position p of 16 images from 16(pC + c) on
  std::vector<std::vector<OpTrace>> ops;  ///< by stage
  LaneNumbers scale{};                    ///< R at the end
  std::vector<LaneNumbers> begin_scale;   ///< R at the beginning of each stage
};

/// Traces images `first`, `first` + 1, … of x; a partial group is padded to 16 by repeating the last image. Values that
/// planes multiply are rounded to T before variances are computed from them, so that equal patches stay equal. If an
/// activation follows pooling, its variances come from the planes of each image with itself.
template <typename T>
[[nodiscard]] GroupTrace<T> trace_group(const Recipe& recipe, const PlaneProgram& program, const SampleView& x,
                                        Index first, Precision precision, double* error);

}  // namespace widelimit::cpu
