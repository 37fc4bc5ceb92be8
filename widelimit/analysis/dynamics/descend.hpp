#pragma once

#include "widelimit/analysis/dynamics/trajectory.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/finite/training/loss.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace widelimit {

/// Learning rates η_t, t = 1, 2, …
enum class RateSchedule : std::uint8_t {
  constant,
  pegasos,  ///< 1/(λt): Shalev-Shwartz, Singer, Srebro (2007)
};
/// "constant", "pegasos".
[[nodiscard]] std::string_view to_string(RateSchedule schedule);
/// Error{usage} lists the choices.
[[nodiscard]] RateSchedule parse_schedule(std::string_view text);

struct DescendOptions {
  Loss loss;
  double lambda = 1;  ///< finite, ≥ 0
  RateSchedule schedule = RateSchedule::constant;
  /// η of a constant schedule; absent: half of the largest stable step or less (default_step in descend.cpp).
  std::optional<double> rate = {};
  Index steps = 1000;
  Index batch = 0;         ///< batch size, 0 for all samples
  std::uint64_t seed = 0;  ///< of the batches
  Index record_every = 1;  ///< steps; step 0 and the last are recorded too
  /// Instead: these steps and no others, from 0 up. Empty: by `record_every`.
  std::vector<Index> record_at = {};
  Start start;
  Recording record;
  bool check_rate = true;  ///< check the convergence rate on smooth losses, which needs the optimum
  /// Test first whether K is positive semi-definite (machine/gram/semidefinite.hpp); O(n³/3) once for each matrix.
  /// False where K is known to be, as the kernel of a network is.
  bool check_definite = true;
  Progress* progress = nullptr;

  /// Error{input} where a number is out of range, Error{usage} for Pegasos without λ.
  void validate() const;
};

/// (Sub)gradient descent of the machine with Gram matrix K, EQ Theorem 3.2 with λ and batches B:
///
///     α ← (1 − ηλ)α − η·(n/|B|)·Σ_{i∈B} l'(g(xᵢ), yᵢ)eᵢ,   g = Kα + Π(1 − ηλ)·h.
///
/// Batches are those of finite/training/batches.hpp, so that a network trained with the same seed has the same
/// batches. The Summary warns of learning rates beyond 2/M (stable_step.hpp); where outputs exceed 1e30 it stops as
/// `diverged`, and so it ends where the objective is more than twice that of the start. O(n²·outputs) for a step of all
/// samples, less where few slopes change; O(n·|B|·outputs) for a batch. [docs/theory/dynamics.md]
[[nodiscard]] Trajectory descend(const GramMatrix& k, MatrixView<const double> targets, const DescendOptions& asked);

}  // namespace widelimit
