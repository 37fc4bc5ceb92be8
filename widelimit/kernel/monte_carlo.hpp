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
  bool ntk = true;  ///< also the (costlier) tangent kernel
  Progress* progress = nullptr;
};

/// Mean over random finite networks, and the standard error of that mean, entry by entry. The finite-width bias,
/// O(1/width), is not part of the standard error.
struct MonteCarloGram {
  Matrix<double> nngp;
  Matrix<double> nngp_error;
  Matrix<double> ntk;  ///< empty unless asked for
  Matrix<double> ntk_error;
};

/// An independent check of the closed forms, and the only method for networks without one (max_pool).
///
/// nngp of one network is the expectation over its last layer where that is dense (w²⟨a,a'⟩/C + b², without the
/// variance of the readout), otherwise the mean of f_k f'_k over the output channels; ntk is the empirical tangent
/// kernel of one scalar output, or of the outputs summed with random signs. Where x2 is x1 itself (the same memory),
/// samples share their dropout masks and both matrices are exactly symmetric, as in a symmetric Gram matrix. The result
/// does not depend on the number of threads, to the bit; engines with layers differ from the processor by rounding.
/// Error{usage} for other engines.
[[nodiscard]] MonteCarloGram monte_carlo_gram(const Network& network, const SampleView& x1, const SampleView& x2,
                                              const MonteCarloOptions& options,
                                              const Engine& engine = all_processors());

}  // namespace widelimit
