#pragma once

#include "widelimit/engine/cpu/image/pair_state.hpp"

#include <functional>

namespace widelimit::cpu {

/// Callback for an emit step, which writes Σ and Θ_m.
using EmitImage = std::function<void(const Step& step, const TracePair& traces, PairState& state)>;

/// Calls put(slot, value) for each output of an emit step, at which one position is left.
template <typename Put>
void each_output(const Step& step, const TracePair& traces, PairState& state, const Put& put) {
  const double r = traces.first->f64(0, 0);
  const double r_other = traces.second->f64(0, 0);
  if (step.nngp_slot >= 0) put(step.nngp_slot, state.rho()(0, 0) * r * r_other);
  for (Index m = 0; m < step.ntk_count; ++m) put(step.ntk_slot + m, state.theta(m)(0, 0) * r * r_other);
}

/// Returns the state of two images before the first step; `x` holds the unit vectors of the positions of an image.
[[nodiscard]] PairState image_input(const Recipe& recipe, MatrixView<const double> x1, MatrixView<const double> x2);

/// One image paired with itself, which gives the variances and thus the features of every step.
struct TracedImage {
  ImageTrace trace;
  double error = 0.0;  ///< quadrature error
};
[[nodiscard]] TracedImage trace_image(const Recipe& recipe, MatrixView<const double> x, const Variances& variance,
                                      Precision precision, const EmitImage& emit);

/// Runs two images as different samples.
void run_images(const Recipe& recipe, MatrixView<const double> x1, const ImageTrace& trace1,
                MatrixView<const double> x2, const ImageTrace& trace2, const EmitImage& emit);

}  // namespace widelimit::cpu
