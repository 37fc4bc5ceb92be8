#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/machine/gram/product_error.hpp"

#include <optional>
#include <vector>

namespace widelimit {

/// A feasible point of the dual of a machine with a smooth loss, made from its outputs, and what the losses say there.
/// For each sample l is the loss and l* its conjugate; r = λā are the multipliers, and the gap of Fenchel and Young,
/// l(h) + l*(−r) + rᵀh ≥ 0, is 0 where r = −l'(h).
struct DualPoint {
  Matrix<double> r;          ///< samples × outputs
  double relative = 0;       ///< a point that is exactly feasible differs from r by relative·|r| …
  double absolute = 0;       ///< … and absolute times the weight at the most
  std::vector<double> loss;  ///< of each sample
  std::vector<double> loss_error;
  std::vector<double> steepness;  ///< Σ_c |∂l/∂h_c|
  std::vector<double> gap;        ///< of Fenchel and Young, upwards
  std::vector<double> deviation;  ///< Σ_c |r_c + ∂l/∂h_c|: how fast the gap grows with an error of h
  std::vector<double> weight;
  double curvature = 0;  ///< l(h + d) ≤ l(h) + l'(h)ᵀd + weight·curvature·max d²
};

/// Losses that give one.
class ProvableLosses {
 public:
  virtual ~ProvableLosses() = default;
  /// At outputs samples × classes or samples × 1, the bias among them; with a bias Σᵢ r_ic = 0 of every output.
  [[nodiscard]] virtual DualPoint dual_point(const Matrix<double>& outputs, bool bias) const = 0;
  /// The feasible point nearest to given multipliers, where it is near; nothing where it is not known.
  [[nodiscard]] virtual std::optional<DualPoint> dual_point_near(const Matrix<double>& multipliers,
                                                                 const Matrix<double>& outputs, bool bias) const = 0;
};

/// A machine to be proved: λ/2 Σ_c α_cᵀKα_c + Σ l.
struct ProofSetting {
  const GramMatrix& k;
  const ProductRounding& rounding;
  const ProvableLosses& losses;
  double lambda = 1;
  bool bias = false;
  double tolerance = 0;
  Progress* progress = nullptr;
};

/// Sets primal, dual and gap of the summary to what the coefficients prove in exact arithmetic, all rounding counted:
/// primal − dual ≥ λ/2 Σ_c ‖α_c − r_c/λ‖²_K + Σ gaps, in which errors of Kα enter by their squares, with r of the
/// outputs or, where that is better, r = λα [docs/theory/machines.md]. Products are made in twice the precision where
/// the first ones do not bring the gap below the tolerance. Whether it is.  Two products with K, or four.
[[nodiscard]] bool prove(const ProofSetting& setting, Fit& fit);

/// Fits offered one after the other, of which the best by what it proves is kept.
class BestProved {
 public:
  explicit BestProved(const ProofSetting& setting) : setting_(setting) {}

  /// Whether it is good enough. Coefficients that are not finite are passed over.
  bool offer(Fit fit);
  /// The best so far; nothing before the first.
  [[nodiscard]] const std::optional<Fit>& best() const { return best_; }
  /// The best, of `samples` × `outputs` zeros where there is none; one that is not good enough ends by its iterations
  /// or by rounding.
  [[nodiscard]] Fit take(Index samples, Index outputs, Index max_iterations) &&;

 private:
  const ProofSetting& setting_;
  std::optional<Fit> best_;
  bool proved_ = false;
};

/// q log(q/p) − q + p ≥ 0, upwards, where q and p are right to a factor 1 ± eta and log p is given: summed over classes
/// it is the divergence of one distribution from another, without cancellation.
[[nodiscard]] double divergence_term(double q, double p, double log_p, double eta);
/// The same for a q that may be off by `absolute`, too: the larger at the two ends, since it is convex in q.
[[nodiscard]] double divergence_term(double q, double p, double log_p, double eta, double absolute);

}  // namespace widelimit
