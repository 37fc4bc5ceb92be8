#pragma once

#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/ridge/conjugate_gradient.hpp"

#include <cstddef>

namespace widelimit {

struct RidgeNetworkOptions {
  Kind kind = Kind::ntk;  ///< ntk or nngp
  Precision precision = Precision::f32;
  std::size_t memory = std::size_t{2} << 30;  ///< memory limit in bytes, excluding samples and targets
  ConjugateGradientOptions solver;            ///< its `memory` is ignored: the preconditioner takes the rest
};

/// Solves fit_ridge with the limit kernel of a network without storing the Gram matrix: network_gram with the largest
/// preconditioner that memory and cost allow. Throws Error{resource} if the memory limit is too small for a product.
[[nodiscard]] ConjugateGradientFit fit_ridge(const Network& network, const SampleView& x,
                                             MatrixView<const double> targets, const RidgeNetworkOptions& options,
                                             const Engine& engine);

/// Returns the memory in bytes of fit_ridge with a Gram matrix of that precision, including the matrix.
[[nodiscard]] double dense_ridge_bytes(Index samples, Index outputs, Precision precision);

}  // namespace widelimit
