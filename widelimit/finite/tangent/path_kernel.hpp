#pragma once

#include "widelimit/finite/training/train.hpp"

#include <optional>
#include <vector>

namespace widelimit {

/// A network trained by gradient descent, written as a kernel machine (EQ Theorem 4.1).
/// [docs/theory/finite.md#every-trained-network-is-a-kernel-machine]
/// Where ḟ(x) = −λf(x) − Σᵢ l'(f(xᵢ),yᵢ)·Θ̂(w;x,xᵢ), as under regulariser `output` at every width,
///   f_T(x) = Σᵢ aᵢK(x,xᵢ) + b(x),   aᵢ = −sign l'(f₀(xᵢ),yᵢ),   b(x) = e^{−λT}f₀(x),
///   K(x,xᵢ) = e^{−λT} ∫₀ᵀ |l'(f_t(xᵢ),yᵢ)|·Θ̂(w_t;x,xᵢ)·e^{λt} dt.
/// Steps of size η have (1 − ηλ) a step for the exponential and a sum for the integral:
///   K ← (1 − ηλ)·K + η·(n/|B|)·|l'|·Θ̂,   b ← (1 − ηλ)·b,
/// which leaves a difference of first order in η, the curvature of f in w along the path; more where training holds a
/// relu at its kink, since f has no derivative along such a path.
///
/// EQ assumes that no l' changes its sign in [0, T]. Here −aᵢl' stands for |l'|: the same where EQ's assumption holds,
/// and true without it; K may then lose its sign too. aᵢ is taken from the first l' of sample i that is not 0, since
/// one that starts beyond its margin would be lost. `absolute` is the theorem to the letter, with |l'|. Several outputs
/// are as many scalar functions: rows are (point, output), columns (training sample, output).
struct PathMachine {
  Matrix<double> k;
  std::vector<double> a;         ///< −1, 0 or 1; 0 where l' was always 0
  std::vector<double> b;         ///< per row
  std::vector<double> values;    ///< Σ aᵢK + b
  std::vector<double> absolute;  ///< the same with |l'| in K
  Index sign_changes = 0;        ///< columns whose l' changed its sign
};

/// max |f_T − (Σ aᵢK + b)| over points and outputs, and what to judge it by.
struct PathDifference {
  double train = 0;
  std::optional<double> test;
  double absolute = 0;  ///< of `PathMachine::absolute`, on all points
  double moved = 0;     ///< max |f_T − f₀| on all points

  [[nodiscard]] double largest() const { return std::max(train, test.value_or(0.0)); }
};

struct NetAsMachine {
  TrainedNetwork trained;
  PathMachine machine;                       ///< on training samples, then test samples
  std::vector<double> outputs;               ///< f_T on the same rows
  std::optional<PathDifference> difference;  ///< unless the training diverged
};

/// Error{usage} where the equation above does not hold: a regulariser other than `output` (or `none`, or any with
/// λ = 0; `aux` never), momentum, a gradient flow, centring, a linearised network, no step at all.
void require_path_machine(const TrainOptions& options);

/// Trains and accumulates the machine, one empirical kernel of all points against the batch a step:
/// O((n + n_test)·|B|·(layers' widths)) beside the passes. Error{usage} as above and for dropout, Error{resource} for
/// memory.
[[nodiscard]] NetAsMachine train_as_kernel_machine(const Network& network, const TrainData& data,
                                                   const TrainOptions& options,
                                                   const Engine& engine = all_processors());

}  // namespace widelimit
