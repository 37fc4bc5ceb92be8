#pragma once

#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/ridge/conjugate_gradient.hpp"

#include <cstddef>

namespace widelimit {

struct RidgeNetworkOptions {
  Kind kind = Kind::ntk;  ///< one of the two
  Precision precision = Precision::f32;
  std::size_t memory = std::size_t{2} << 30;  ///< bytes of all that is held besides samples and targets
  ConjugateGradientOptions solver;            ///< its `memory` is what is left for the preconditioner
};

/// fit_ridge on the limit kernel of a network, whose Gram matrix is never held: network_gram with as large a
/// preconditioner as memory and cost allow. Error{resource} where the memory does not do for a product.
[[nodiscard]] ConjugateGradientFit fit_ridge(const Network& network, const SampleView& x,
                                             MatrixView<const double> targets, const RidgeNetworkOptions& options,
                                             const Engine& engine);

/// Bytes that fit_ridge on a Gram matrix of that precision takes, the matrix among them.
[[nodiscard]] double dense_ridge_bytes(Index samples, Index outputs, Precision precision);

}  // namespace widelimit
