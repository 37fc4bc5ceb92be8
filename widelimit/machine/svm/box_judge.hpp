#pragma once

#include "widelimit/machine/gram/fresh_product.hpp"
#include "widelimit/machine/svm/box_solver.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace widelimit {

/// What a direction in coefficients shows.
enum class Proof : std::uint8_t {
  none,
  inseparable,  ///< no classifier has margins above the rounding of K
  indefinite,   ///< K is not positive semi-definite
};

/// What coefficients of a box problem prove, from products Ka made afresh with their rounding counted. Products are
/// made in twice the precision as soon as rounding is most of a gap.
template <std::floating_point T>
class BoxJudge {
 public:
  /// K is symmetric up to `asymmetry` and positive semi-definite up to `excess`, both as FreshProduct takes them.
  /// `beat` is called often; it stops the work by throwing.
  BoxJudge(const BoxProblem& problem, GramColumns<T>& columns, double asymmetry, double excess,
           std::function<void()> beat);

  /// Ka from nothing but a.
  void refresh(BoxSolution& found) { fresh_.compute(found.a, found.product, beat_); }
  /// Bias and nominal objectives, of the product as it is.
  void look(BoxSolution& found) const;
  /// After a look: the product afresh, unless it is known, and objectives with all rounding counted. A classifier that
  /// separates is scaled to margins of 1 where that lowers the gap.
  void count(BoxSolution& found, double tolerance);
  /// The product was recomputed, with this error.
  void know(const ProductError& error) {
    fresh_.know(error);
    known_ = true;
  }
  [[nodiscard]] const ProductError& error() const { return fresh_.error(); }

  /// Of the signs of a feasible a.
  [[nodiscard]] Proof proof_of(std::span<const double> v);
  /// Whether K has a negative entry on the diagonal.
  [[nodiscard]] bool negative_diagonal() const { return negative_; }
  /// Whether, nominally, a is so short beside Σ|aᵢ| that it may prove something.
  [[nodiscard]] bool looks_inseparable(const BoxSolution& found) const;
  /// What rounding alone does to an entry of the gradient: a few ε‖a‖ max K_ii of a product in float64; one unit in the
  /// last place of a coefficient, times its own diagonal entry, where products are better. Fewer digits than this are
  /// no violation.
  [[nodiscard]] double gradient_noise(std::span<const double> a) const;
  /// Whether products are made in twice the precision.
  [[nodiscard]] bool precise() const { return fresh_.precise(); }

 private:
  [[nodiscard]] bool widen(BoxSolution& found);
  [[nodiscard]] bool scale_by(double t, BoxSolution& found) const;
  /// Σ|vᵢ|, vᵀKv and max √K_ii over the vᵢ that are not 0.
  struct Size {
    double sum = 0;
    double norm = 0;
    double longest = 0;
    [[nodiscard]] bool below_rounding(double lost) const;
  };
  [[nodiscard]] Size size_of(std::span<const double> v, std::span<const double> product) const;

  const BoxProblem& problem_;
  GramColumns<T>& columns_;
  double asymmetry_;
  double excess_;
  std::function<void()> beat_;
  FreshProduct<T> fresh_;
  bool known_ = false;  ///< the product need not be recomputed
  bool negative_ = false;
  bool unbounded_ = false;  ///< nothing but the data keeps coefficients finite
};

}  // namespace widelimit
