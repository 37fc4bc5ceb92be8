#pragma once

#include "widelimit/finite/training/train.hpp"

#include <optional>
#include <vector>

namespace widelimit {

/// A network trained by gradient descent, written as a kernel machine (EQ Theorem 4.1).
/// [docs/theory/finite.md#every-trained-network-is-a-kernel-machine]
/// If ḟ(x) = −λf(x) − Σᵢ l'(f(xᵢ),yᵢ)·Θ̂(w;x,xᵢ), as with regulariser `output` at every width,
///   f_T(x) = Σᵢ aᵢK(x,xᵢ) + b(x),   aᵢ = −sign l'(f₀(xᵢ),yᵢ),   b(x) = e^{−λT}f₀(x),
///   K(x,xᵢ) = e^{−λT} ∫₀ᵀ |l'(f_t(xᵢ),yᵢ)|·Θ̂(w_t;x,xᵢ)·e^{λt} dt.
/// Steps of size η replace the exponential by a factor (1 − ηλ) per step and the integral by a sum:
///   K ← (1 − ηλ)·K + η·(n/|B|)·|l'|·Θ̂,   b ← (1 − ηλ)·b,
/// with a difference of first order in η due to the curvature of f in w along the path; it is larger if training keeps
/// a relu at its kink, where f is not differentiable.
///
/// EQ assumes that no l' changes its sign in [0, T]. Here −aᵢl' replaces |l'|: identical under EQ's assumption and
/// valid without it, although K may then lose its sign. aᵢ is taken from the first non-zero l' of sample i, since a
/// sample that starts beyond its margin would otherwise be lost. `absolute` is the literal theorem, with |l'|. Several
/// outputs are treated as separate scalar functions: rows are (point, output), columns (training sample, output).
struct PathMachine {
  Matrix<double> k;
  std::vector<double> a;         ///< −1, 0 or 1; 0 if l' was always 0
  std::vector<double> b;         ///< per row
  std::vector<double> values;    ///< Σ aᵢK + b
  std::vector<double> absolute;  ///< the same with |l'| in K
  Index sign_changes = 0;        ///< columns whose l' changed its sign
};

/// max |f_T − (Σ aᵢK + b)| over points and outputs, and reference values.
struct PathDifference {
  double train = 0;
  std::optional<double> test;
  double absolute = 0;  ///< the difference for PathMachine::absolute, on all points
  double moved = 0;     ///< max |f_T − f₀| on all points

  [[nodiscard]] double largest() const { return std::max(train, test.value_or(0.0)); }
};

struct NetAsMachine {
  TrainedNetwork trained;
  PathMachine machine;                       ///< on training samples, then test samples
  std::vector<double> outputs;               ///< f_T on the same rows
  std::optional<PathDifference> difference;  ///< empty if the training diverged
};

/// Throws Error{usage} if the equation above does not hold: for a regulariser other than `output` (or `none`, or any
/// but `aux` with λ = 0), momentum, a gradient flow, centring, a linearised network, or no steps.
void require_path_machine(const TrainOptions& options);

/// Trains and accumulates the machine, with one empirical kernel of all points against the batch per step:
/// O((n + n_test)·|B|·(layers' widths)) in addition to the passes. Throws Error{usage} as above and for dropout,
/// Error{resource} if memory is insufficient.
[[nodiscard]] NetAsMachine train_as_kernel_machine(const Network& network, const TrainData& data,
                                                   const TrainOptions& options,
                                                   const Engine& engine = all_processors());

}  // namespace widelimit
