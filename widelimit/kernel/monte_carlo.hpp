#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/network/network.hpp"

#include <cstdint>

namespace widelimit {

struct MonteCarloOptions {
  Index width = 256;  ///< hidden units or channels of each random network
  Index draws = 64;   ///< independent networks; at least 2
  std::uint64_t seed = 0;
  bool ntk = true;  ///< also compute the tangent kernel, which costs more
  Progress* progress = nullptr;
};

/// Entrywise mean over random finite networks and its standard error. The finite-width bias, O(1/width), is not part of
/// the standard error.
struct MonteCarloGram {
  Matrix<double> nngp;
  Matrix<double> nngp_error;
  Matrix<double> ntk;  ///< empty unless requested
  Matrix<double> ntk_error;
};

/// An independent check of the closed forms, and the only method for networks without one (max_pool).
///
/// If the last layer is dense, the NNGP of one network is the expectation over that layer, w²⟨a,a'⟩/C + b², which
/// removes the variance of the readout; otherwise the mean of f_k f'_k over the output channels. The NTK is the
/// empirical tangent kernel of one scalar output, or of the sum of the outputs with random signs. If x2 is x1 (the same
/// memory), samples share their dropout masks and both matrices are exactly symmetric, as for a symmetric Gram matrix.
/// The result is bitwise independent of the number of threads; engines with layers differ from the CPU by rounding.
/// Throws Error{usage} for engines without layers.
[[nodiscard]] MonteCarloGram monte_carlo_gram(const Network& network, const SampleView& x1, const SampleView& x2,
                                              const MonteCarloOptions& options,
                                              const Engine& engine = all_processors());

}  // namespace widelimit
