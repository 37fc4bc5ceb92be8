#pragma once

#include "widelimit/analysis/dynamics/trajectory.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/finite/training/loss.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace widelimit {

/// Learning-rate schedule η_t, t = 1, 2, …
enum class RateSchedule : std::uint8_t {
  constant,
  pegasos,  ///< 1/(λt): Shalev-Shwartz, Singer, Srebro (2007)
};
/// Returns "constant" or "pegasos".
[[nodiscard]] std::string_view to_string(RateSchedule schedule);
/// Throws Error{usage} with the valid names.
[[nodiscard]] RateSchedule parse_schedule(std::string_view text);

struct DescendOptions {
  Loss loss;
  double lambda = 1;  ///< finite, ≥ 0
  RateSchedule schedule = RateSchedule::constant;
  /// η of the constant schedule; default: at most half of the largest stable step (default_step in descend.cpp).
  std::optional<double> rate = {};
  Index steps = 1000;
  Index batch = 0;         ///< batch size; 0 means all samples
  std::uint64_t seed = 0;  ///< seed of the batches
  Index record_every = 1;  ///< in steps; step 0 and the last step are always recorded
  /// Explicit list of recorded steps, ascending from 0; if empty, `record_every` applies.
  std::vector<Index> record_at = {};
  Start start;
  Recording record;
  bool check_rate = true;  ///< check the convergence rate on smooth losses; requires the optimum
  /// Checks that K is positive semi-definite (machine/gram/semidefinite.hpp); O(n³/3) once per matrix. Set to false if
  /// K is known to be, e.g. the kernel of a network.
  bool check_definite = true;
  Progress* progress = nullptr;

  /// Throws Error{input} if a value is out of range, Error{usage} for Pegasos with λ = 0.
  void validate() const;
};

/// (Sub)gradient descent of the machine with Gram matrix K, EQ Theorem 3.2 with λ and batches B:
///
///     α ← (1 − ηλ)α − η·(n/|B|)·Σ_{i∈B} l'(g(xᵢ), yᵢ)eᵢ,   g = Kα + Π(1 − ηλ)·h.
///
/// The batches are those of finite/training/batches.hpp: a network trained with the same seed has the same batches. The
/// Summary warns if the learning rate exceeds 2/M (convergence_rate.hpp). The run stops as `diverged` if outputs exceed
/// 1e30, and is also `diverged` if the final objective exceeds twice the initial one. A step costs O(n²·outputs) for
/// all samples, less if few slopes change, and O(n·|B|·outputs) for a batch. [docs/theory/dynamics.md]
[[nodiscard]] Trajectory descend(const GramMatrix& k, MatrixView<const double> targets,
                                 const DescendOptions& requested);

}  // namespace widelimit
