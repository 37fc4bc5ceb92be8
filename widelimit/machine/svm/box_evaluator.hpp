#pragma once

#include "widelimit/engine/host/box_pass.hpp"
#include "widelimit/engine/host/compensated_pass.hpp"
#include "widelimit/kernel/gram_columns.hpp"
#include "widelimit/machine/gram/rounding.hpp"
#include "widelimit/machine/svm/box_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace widelimit {

/// Computes Ka from a, with a bound of its rounding error.
template <std::floating_point T>
class RecomputedProduct {
 public:
  /// K denotes its symmetric part: |K_ij − K_ji| ≤ asymmetry·√(K_ii K_jj), and |K_ij| ≤ (1 + excess)√(K_ii K_jj).
  RecomputedProduct(GramColumns<T>& columns, double asymmetry, double excess)
      : columns_(columns), rounding_(lengths_of(columns), asymmetry, excess), low_(usize(columns.size())) {}

  /// Switches doubled precision on or off; products in doubled precision take about five times as long.
  void make_precise(bool precise = true) { precise_ = precise; }
  [[nodiscard]] bool precise() const { return precise_; }
  [[nodiscard]] std::span<const double> lengths() const { return rounding_.lengths(); }

  /// Computes the product. O(n·support). `on_progress` is called often and interrupts by throwing.
  void compute(std::span<const double> a, std::span<double> product, const std::function<void()>& on_progress) {
    std::fill(product.begin(), product.end(), 0.0);
    std::fill(low_.begin(), low_.end(), 0.0);
    Index support = 0;
    for (Index j = 0; j < columns_.size(); ++j) {
      const double by = a[usize(j)];
      if (by == 0) continue;
      if (support++ % columns_per_callback == 0) on_progress();
      const T* column = columns_.column(j);
      if (precise_) {
        host::accumulate(column, by, product.data(), low_.data(), columns_.size());
      } else {
        // The kernel of the box solver; the working set that it returns is ignored.
        (void)host::advance({column, by, column, 0.0}, low_.data(), product.data(), columns_.size());
      }
    }
    if (precise_) std::transform(product.begin(), product.end(), low_.begin(), product.begin(), std::plus<>());
    size_ = rounding_.size_of({a.data(), columns_.size(), 1, 1}, 0);
    error_ = rounding_.error(size_, support, precise_);
  }
  /// Scales the product and its error for coefficients that were multiplied by t.
  void scale(double t, std::span<double> product) {
    std::for_each(product.begin(), product.end(), [&](double& value) { value *= t; });
    size_ *= t;
    error_.relative = error_.relative * t + scaling_rounding * size_;
    error_.absolute = error_.absolute * std::max(t, 1.0) + 4 * underflow_unit;
  }
  /// Upper bound of what `scale` adds to the error of an entry, per unit of t.
  [[nodiscard]] double scaling_error() const {
    const std::span<const double> all = lengths();
    return all.empty() ? 0 : scaling_rounding * size_ * *std::max_element(all.begin(), all.end());
  }
  /// Error of the last product.
  [[nodiscard]] const ProductError& error() const { return error_; }
  /// Sets the error of a product that was computed before, for a problem on the same columns.
  void set_error(std::span<const double> a, const ProductError& error) {
    size_ = rounding_.size_of({a.data(), columns_.size(), 1, 1}, 0);
    error_ = {lengths(), error.relative, error.absolute};
  }

 private:
  static constexpr Index columns_per_callback = 64;
  /// Rounding error of scaling the coefficients and the products.
  static constexpr double scaling_rounding = 4 * unit_rounding;

  [[nodiscard]] static std::vector<double> lengths_of(const GramColumns<T>& columns) {
    std::vector<double> lengths;
    lengths.reserve(usize(columns.size()));
    for (Index k = 0; k < columns.size(); ++k) lengths.push_back(std::sqrt(std::max(0.0, columns.diagonal(k))));
    return lengths;
  }

  GramColumns<T>& columns_;
  ProductRounding rounding_;
  std::vector<double> low_;
  bool precise_ = false;
  double size_ = 0;  ///< Σ√K_jj|a_j|
  ProductError error_;
};

/// What a direction in coefficient space proves.
enum class Proof : std::uint8_t {
  none,
  inseparable,  ///< no classifier has margins above the rounding error of K
  indefinite,   ///< K is not positive semi-definite
};

/// Evaluates coefficients of a box problem rigorously, from recomputed products Ka with their rounding errors. Products
/// switch to doubled precision when rounding dominates a gap.
template <std::floating_point T>
class BoxEvaluator {
 public:
  /// K is symmetric up to `asymmetry` and positive semi-definite up to `excess`, as in RecomputedProduct. `on_progress`
  /// is called often and interrupts by throwing.
  BoxEvaluator(GramColumns<T>& columns, double asymmetry, double excess, std::function<void()> on_progress);

  /// Sets the problem, which must outlive its use.
  void set_problem(const BoxProblem& problem);

  /// Recomputes Ka from a.
  void refresh(BoxSolution& found) { recomputed_.compute(found.a, found.product, on_progress_); }
  /// Computes bias and nominal objectives from the current product.
  void evaluate_nominal(BoxSolution& found) const;
  /// Call after `evaluate_nominal`: recomputes the product unless it is known, and computes objectives with all
  /// rounding included. A separating classifier is scaled to margins of 1 if that lowers the gap.
  void evaluate_rigorous(BoxSolution& found, double tolerance);
  /// Declares the current product of a as recomputed, with this error.
  void set_error(std::span<const double> a, const ProductError& error) {
    recomputed_.set_error(a, error);
    known_ = true;
  }
  [[nodiscard]] const ProductError& error() const { return recomputed_.error(); }

  /// Returns what v proves, where v has the signs of a feasible a.
  [[nodiscard]] Proof proof_of(std::span<const double> v);
  /// Whether K has a negative entry on the diagonal.
  [[nodiscard]] bool negative_diagonal() const { return negative_; }
  /// Whether, without rounding, the norm of a is so small relative to Σ|aᵢ| that it may prove inseparability.
  [[nodiscard]] bool may_be_inseparable(const BoxSolution& found) const;
  /// Returns the rounding error of a gradient entry: a few ε‖a‖ max K_ii for products in float64; one unit in the last
  /// place of a coefficient times its diagonal entry in doubled precision. Smaller violations are not significant.
  [[nodiscard]] double gradient_noise(std::span<const double> a) const;
  /// Whether products use doubled precision.
  [[nodiscard]] bool precise() const { return recomputed_.precise(); }

 private:
  [[nodiscard]] bool widen(BoxSolution& found);
  [[nodiscard]] bool scale_by(double t, BoxSolution& found) const;
  /// Σ|vᵢ|, vᵀKv and max √K_ii over the nonzero vᵢ.
  struct Size {
    double sum = 0;
    double norm = 0;
    double longest = 0;
    [[nodiscard]] bool below_rounding(double error) const;
  };
  [[nodiscard]] Size size_of(std::span<const double> v, std::span<const double> product) const;

  const BoxProblem* problem_ = nullptr;
  GramColumns<T>& columns_;
  double asymmetry_;
  double excess_;
  std::function<void()> on_progress_;
  RecomputedProduct<T> recomputed_;
  bool known_ = false;  ///< the product need not be recomputed
  bool negative_ = false;
  bool unbounded_ = false;  ///< some coefficient has neither bound nor ridge
  BoxSolution unscaled_;    ///< copy before a classifier is scaled
};

}  // namespace widelimit
