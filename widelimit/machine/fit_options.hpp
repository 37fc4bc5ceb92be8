#pragma once

#include "widelimit/kernel/label_aware/label_aware.hpp"
#include "widelimit/machine/machine.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace widelimit {

/// Solver of the linear system of ridge.
enum class Solver : std::uint8_t {
  automatic,            ///< dense if matrix and factor fit into memory, else conjugate gradients
  dense,                ///< factorisation of the Gram matrix
  conjugate_gradients,  ///< products with a Gram matrix that is not stored
};
[[nodiscard]] Solver parse_solver(std::string_view text);  ///< "auto", "dense" or "cg"

struct FitDataOptions {
  MachineOptions machine;  ///< `check_definite` has no effect if the kernel is known to be semi-definite
  bool posterior = false;  ///< ridge only: a Gaussian process with noise variance λ/2 and its likelihood
  Solver solver = Solver::automatic;
  /// Memory limit in bytes, including the samples; default: the available memory, excluding the samples.
  std::optional<std::size_t> memory;
  /// Label-aware kernel; needs class labels and the Gram matrix in memory.
  std::optional<LabelAwareOptions> label_aware = std::nullopt;
  /// Additional pair features for it, evaluated on the preprocessed samples.
  const PairFunctions* pair_features = nullptr;

  /// Throws Error{usage} if machine, solver, posterior and kernel are incompatible.
  void validate() const;
  /// Returns the remaining memory in bytes if the samples take `held`. Throws Error{resource} if nothing remains.
  [[nodiscard]] std::size_t memory_left(std::size_t held) const;
};

/// Resolves Solver::automatic: conjugate gradients for ridge with a network whose Gram matrix and factor do not fit
/// into `memory` bytes.
[[nodiscard]] Solver chosen_solver(const FitDataOptions& options, bool network, Index samples, Index outputs,
                                   Precision precision, std::size_t memory);

}  // namespace widelimit
