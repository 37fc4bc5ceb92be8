#pragma once

#include "widelimit/engine/host/box_pass.hpp"
#include "widelimit/engine/host/compensated_pass.hpp"
#include "widelimit/kernel/gram_columns.hpp"
#include "widelimit/machine/gram/product_error.hpp"
#include "widelimit/machine/gram/rounding.hpp"
#include "widelimit/machine/svm/box_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace widelimit {

/// Ka from nothing but a, with a bound of its rounding.
template <std::floating_point T>
class FreshProduct {
 public:
  /// K stands for its symmetric part: |K_ij − K_ji| ≤ asymmetry·√(K_ii K_jj), and |K_ij| ≤ (1 + excess)√(K_ii K_jj).
  FreshProduct(GramColumns<T>& columns, double asymmetry, double excess)
      : columns_(columns), rounding_(lengths_of(columns), asymmetry, excess), low_(usize(columns.size())) {}

  /// From now on in twice the precision, which takes about five times as long, or no more.
  void make_precise(bool precise = true) { precise_ = precise; }
  [[nodiscard]] bool precise() const { return precise_; }
  [[nodiscard]] std::span<const double> lengths() const { return rounding_.lengths(); }

  /// O(n·support). `beat` is called often, and stops the work by throwing.
  void compute(std::span<const double> a, std::span<double> product, const std::function<void()>& beat) {
    std::fill(product.begin(), product.end(), 0.0);
    std::fill(low_.begin(), low_.end(), 0.0);
    Index support = 0;
    for (Index j = 0; j < columns_.size(); ++j) {
      const double by = a[usize(j)];
      if (by == 0) continue;
      if (support++ % columns_of_a_beat == 0) beat();
      const T* column = columns_.column(j);
      if (precise_) {
        host::accumulate(column, by, product.data(), low_.data(), columns_.size());
      } else {
        // The pass of the box solver; the working set it finds is not used here.
        (void)host::advance({column, by, column, 0.0}, low_.data(), product.data(), columns_.size());
      }
    }
    if (precise_) std::transform(product.begin(), product.end(), low_.begin(), product.begin(), std::plus<>());
    size_ = rounding_.size_of({a.data(), columns_.size(), 1, 1}, 0);
    error_ = rounding_.error(size_, support, precise_);
  }
  /// The product, and its error, of coefficients that were multiplied by t.
  void scale(double t, std::span<double> product) {
    std::for_each(product.begin(), product.end(), [&](double& value) { value *= t; });
    size_ *= t;
    error_.relative = error_.relative * t + scaling_rounding * size_;
    error_.absolute = error_.absolute * std::max(t, 1.0) + 4 * underflow_unit;
  }
  /// What scale adds to the error of an entry, at the most, by t.
  [[nodiscard]] double scaling_error() const {
    const std::span<const double> all = lengths();
    return all.empty() ? 0 : scaling_rounding * size_ * *std::max_element(all.begin(), all.end());
  }
  /// Of the last product.
  [[nodiscard]] const ProductError& error() const { return error_; }
  /// The product of a was made before, for a problem on the same columns, with that error.
  void know(std::span<const double> a, const ProductError& error) {
    size_ = rounding_.size_of({a.data(), columns_.size(), 1, 1}, 0);
    error_ = {lengths(), error.relative, error.absolute};
  }

 private:
  static constexpr Index columns_of_a_beat = 64;
  /// Of coefficients and of products, each of which is multiplied.
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
  BoxJudge(GramColumns<T>& columns, double asymmetry, double excess, std::function<void()> beat);

  /// The problem to judge from now on, which must outlive that.
  void take(const BoxProblem& problem);

  /// Ka from nothing but a.
  void refresh(BoxSolution& found) { fresh_.compute(found.a, found.product, beat_); }
  /// Bias and nominal objectives, of the product as it is.
  void look(BoxSolution& found) const;
  /// After a look: the product afresh, unless it is known, and objectives with all rounding counted. A classifier that
  /// separates is scaled to margins of 1 where that lowers the gap.
  void count(BoxSolution& found, double tolerance);
  /// The product of a was made afresh, with this error.
  void know(std::span<const double> a, const ProductError& error) {
    fresh_.know(a, error);
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

  const BoxProblem* problem_ = nullptr;
  GramColumns<T>& columns_;
  double asymmetry_;
  double excess_;
  std::function<void()> beat_;
  FreshProduct<T> fresh_;
  bool known_ = false;  ///< the product need not be recomputed
  bool negative_ = false;
  bool unbounded_ = false;  ///< nothing but the data keeps coefficients finite
  BoxSolution unscaled_;    ///< before a classifier is scaled
};

}  // namespace widelimit
