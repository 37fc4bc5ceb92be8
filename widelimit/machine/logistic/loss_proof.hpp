#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/machine/gram/rounding.hpp"

#include <optional>
#include <vector>

namespace widelimit {

/// A feasible dual point of a machine with a smooth loss, constructed from its outputs, with the losses there. For each
/// sample, l is the loss and l* its conjugate; r = λā are the multipliers, and the Fenchel–Young gap
/// l(h) + l*(−r) + rᵀh ≥ 0 is 0 if r = −l'(h).
struct DualPoint {
  Matrix<double> r;          ///< samples × outputs
  double relative = 0;       ///< an exactly feasible point differs from r by at most relative·|r| …
  double absolute = 0;       ///< … plus absolute times the weight
  std::vector<double> loss;  ///< per sample
  std::vector<double> loss_error;
  std::vector<double> steepness;  ///< Σ_c |∂l/∂h_c|
  std::vector<double> gap;        ///< upper bound of the Fenchel–Young gap
  std::vector<double> deviation;  ///< Σ_c |r_c + ∂l/∂h_c|: sensitivity of the gap to an error of h
  std::vector<double> weight;
  double curvature = 0;  ///< l(h + d) ≤ l(h) + l'(h)ᵀd + weight·curvature·max d²
};

/// Interface of losses that provide a dual point.
class ProvableLosses {
 public:
  virtual ~ProvableLosses() = default;
  /// Returns the dual point at outputs (samples × classes or samples × 1) that include the bias; with a bias
  /// Σᵢ r_ic = 0 for every output.
  [[nodiscard]] virtual DualPoint dual_point(const Matrix<double>& outputs, bool bias) const = 0;
  /// Returns the feasible point nearest to given multipliers; std::nullopt if it is not known.
  [[nodiscard]] virtual std::optional<DualPoint> dual_point_near(const Matrix<double>& multipliers,
                                                                 const Matrix<double>& outputs, bool bias) const = 0;
};

/// The machine whose gap is to be proved: λ/2 Σ_c α_cᵀKα_c + Σ l.
struct ProofSetting {
  const GramMatrix& k;
  const ProductRounding& rounding;
  const ProvableLosses& losses;
  double lambda = 1;
  bool bias = false;
  double tolerance = 0;
  Progress* progress = nullptr;
};

/// Sets primal, dual and gap of the summary to values that hold in exact arithmetic, with all rounding included:
/// primal − dual ≥ λ/2 Σ_c ‖α_c − r_c/λ‖²_K + Σ gaps, in which errors of Kα enter quadratically, with r from the
/// outputs or, if that is better, r = λα [docs/theory/machines.md]. Products use doubled precision if the first ones do
/// not bring the gap below the tolerance. Returns whether it is below. Two products with K, or four.
[[nodiscard]] bool prove(const ProofSetting& setting, Fit& fit);

/// Keeps the fit with the smallest proved gap of several candidates.
class BestProved {
 public:
  explicit BestProved(const ProofSetting& setting) : setting_(setting) {}

  /// Proves a fit and keeps it if it is the best; returns whether it meets the tolerance. Ignores fits that are not
  /// finite.
  bool offer(Fit fit);
  /// Returns the best fit so far, if any.
  [[nodiscard]] const std::optional<Fit>& best() const { return best_; }
  /// Returns the best fit, or zeros of size `samples` × `outputs` if there is none. A fit that misses the tolerance
  /// ends as iteration_limit, with a message that names the iteration limit or rounding as the cause.
  [[nodiscard]] Fit take(Index samples, Index outputs, Index max_iterations) &&;

 private:
  const ProofSetting& setting_;
  std::optional<Fit> best_;
  bool proved_ = false;
};

/// Returns an upper bound of q log(q/p) − q + p ≥ 0, where q and p are accurate to a factor 1 ± eta and log p is given.
/// The sum over classes is the divergence of two distributions, without cancellation.
[[nodiscard]] double divergence_term(double q, double p, double log_p, double eta);
/// Same for q with an additional absolute error: the larger of the values at both ends, since it is convex in q.
[[nodiscard]] double divergence_term(double q, double p, double log_p, double eta, double absolute);

}  // namespace widelimit
