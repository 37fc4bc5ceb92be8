#pragma once

#include "widelimit/engine/cpu/vector/pair_state.hpp"

#include <functional>

namespace widelimit::cpu {

/// Σ and Θ_m that an emit step writes.
using EmitImage = std::function<void(const Step& step, const TracePair& traces, PairState& state)>;

/// The state of two images before the first step; `x` holds the unit vectors of an image's positions.
[[nodiscard]] PairState image_input(const Recipe& recipe, MatrixView<const double> x1, MatrixView<const double> x2);

/// One image with itself: finds the variances, and with them the features of every step.
struct TracedImage {
  ImageTrace trace;
  double error = 0.0;  ///< of quadrature
};
[[nodiscard]] TracedImage trace_image(const Recipe& recipe, MatrixView<const double> x, const Variances& variance,
                                      Precision precision, const EmitImage& emit);

/// Two images, as different ones.
void run_images(const Recipe& recipe, MatrixView<const double> x1, const ImageTrace& trace1,
                MatrixView<const double> x2, const ImageTrace& trace2, const EmitImage& emit);

}  // namespace widelimit::cpu
