#include "widelimit/machine/logistic/logistic_space.hpp"

#include "widelimit/engine/cpu/algebra/condition.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

using Vector = std::vector<double>;

/// I is lost beside anything larger in B = I + …; a larger μ keeps it.
constexpr double largest_ratio = 1e15;

Vector roots(const Vector& d) {
  Vector root(d.size());
  std::transform(d.begin(), d.end(), root.begin(), [](double value) { return std::sqrt(value); });
  return root;
}

class GramSpace : public LogisticSpace {
 public:
  explicit GramSpace(const DenseGram& k) : k_(k), factor_(k.count()) {}

  [[nodiscard]] Index dimension() const override { return k_.count(); }
  [[nodiscard]] Vector pull(const Vector& r) const override { return r; }
  [[nodiscard]] Vector star(const Vector& c) const override {
    Vector product(c.size());
    k_.multiply(c.data(), product.data());
    return product;
  }
  [[nodiscard]] Vector values(const Vector&, const Vector& star_c) const override { return star_c; }
  [[nodiscard]] bool newton(const LogisticStep& step, LogisticMove& move) override;
  [[nodiscard]] std::optional<double> condition() override {
    return factored_ ? std::optional(factor_.condition()) : std::nullopt;
  }
  [[nodiscard]] std::size_t memory() const override {
    return sizeof(double) * static_cast<std::size_t>(k_.count() * k_.count());
  }

 private:
  /// With λ, or the smallest μ above it that works: any μ gives a direction of descent. 0 where none does.
  double factorise(const LogisticStep& step, const Vector& root);

  const DenseGram& k_;
  ShiftedFactor factor_;
  bool factored_ = false;
};

double GramSpace::factorise(const LogisticStep& step, const Vector& root) {
  double largest = 0;
  for (Index i = 0; i < k_.count(); ++i)
    largest = std::max(largest, step.d[static_cast<std::size_t>(i)] * k_.row(i)[i]);
  double mu = std::max(step.lambda, largest / largest_ratio);
  const double most = std::max(mu, largest) * static_cast<double>(k_.count()) * 10;
  for (; mu <= most; mu *= 10) {
    if (factor_.factorise(k_, root.data(), mu, step.progress)) {
      factored_ = true;
      return mu;
    }
  }
  return 0;
}

/// x = (μI + DK)⁻¹ρ = (ρ − S·B⁻¹·S·Kρ/μ)/μ, and with a bias Δα = x − Δb·(μI + DK)⁻¹d; adding up the rows of
/// μΔα = ρ − D(KΔα + Δb) turns the condition of the bias into Σ(r − ρ + μΔα) = 0.
bool GramSpace::newton(const LogisticStep& step, LogisticMove& move) {
  const std::size_t n = step.d.size();
  const Vector root = roots(step.d);
  const double mu = factorise(step, root);
  if (mu == 0) return false;
  Vector z(step.bias ? 2 * n : n);
  for (std::size_t i = 0; i < n; ++i) z[i] = root[i] * step.rho_star[i] / mu;
  if (step.bias) std::copy(root.begin(), root.end(), z.begin() + static_cast<Index>(n));
  factor_.solve(z.data(), step.bias ? 2 : 1);
  move.c.resize(n);
  for (std::size_t i = 0; i < n; ++i) move.c[i] = (step.rho[i] - root[i] * z[i]) / mu;
  move.bias = 0;
  if (!step.bias) return true;
  double denominator = 0;
  for (std::size_t i = 0; i < n; ++i) {
    z[n + i] *= root[i] / mu;
    denominator += mu * z[n + i];
  }
  if (denominator > 0) move.bias = (step.sum_r - total(step.rho) + mu * total(move.c)) / denominator;
  for (std::size_t i = 0; i < n; ++i) move.c[i] -= move.bias * z[n + i];
  return true;
}

class FactorSpace : public LogisticSpace {
 public:
  explicit FactorSpace(const GramFactor& factor)
      : factor_(factor),
        scaled_(factor.count(), factor.rank(), Content::unset),
        hessian_(factor.rank(), factor.rank(), Content::unset) {}

  [[nodiscard]] Index dimension() const override { return factor_.rank(); }
  [[nodiscard]] Vector pull(const Vector& r) const override {
    Vector c(static_cast<std::size_t>(dimension()));
    factor_.pull(r.data(), c.data());
    return c;
  }
  [[nodiscard]] Vector star(const Vector& c) const override { return c; }
  [[nodiscard]] Vector values(const Vector& c, const Vector&) const override {
    Vector h(static_cast<std::size_t>(factor_.count()));
    factor_.values(c.data(), h.data());
    return h;
  }
  [[nodiscard]] bool newton(const LogisticStep& step, LogisticMove& move) override;
  [[nodiscard]] std::optional<double> condition() override {
    return norm_ > 0 ? std::optional(cpu::condition_of<double>(hessian_.view(), norm_)) : std::nullopt;
  }
  [[nodiscard]] std::size_t memory() const override {
    return sizeof(double) *
           static_cast<std::size_t>(factor_.count() * (factor_.count() + dimension()) + dimension() * dimension());
  }

 private:
  bool factorise(const LogisticStep& step);

  const GramFactor& factor_;
  Matrix<double> scaled_;   ///< D^½L
  Matrix<double> hessian_;  ///< λI + LᵀDL, then its factor
  double norm_ = 0;         ///< ‖λI + LᵀDL‖₁; 0 before the first
};

bool FactorSpace::factorise(const LogisticStep& step) {
  const MatrixView<const double> l = factor_.rows();
  const Index m = dimension();
  const Vector root = roots(step.d);
  for (Index i = 0; i < l.rows; ++i) {
    const double s = root[static_cast<std::size_t>(factor_.order()[static_cast<std::size_t>(i)])];
    std::transform(l.row(i), l.row(i) + m, scaled_.view().row(i), [s](double entry) { return s * entry; });
  }
  double largest = step.lambda;
  for (double mu = step.lambda; mu <= largest * 10; mu *= 10) {
    cpu::tiled_self_product<double>(1, scaled_.view(), 0, hessian_.view());
    for (Index i = 0; i < m; ++i) {
      largest = std::max(largest, hessian_(i, i));
      hessian_(i, i) += mu;
    }
    norm_ = symmetric_norm(hessian_.view());
    if (factorise_symmetric(hessian_.view(), step.progress)) return true;
  }
  return false;
}

/// Δβ = A⁻¹(ρ − LᵀdΔb), A = λI + LᵀDL, and Δb(Σd − dᵀLA⁻¹Lᵀd) = Σr − dᵀLA⁻¹ρ.
bool FactorSpace::newton(const LogisticStep& step, LogisticMove& move) {
  move = {step.rho, 0};
  if (dimension() > 0) {
    if (!factorise(step)) return false;
    solve_symmetric(hessian_.view(), move.c.data());
  }
  if (!step.bias) return true;
  const Vector offset = pull(step.d);
  Vector x = offset;
  if (dimension() > 0) solve_symmetric(hessian_.view(), x.data());
  const double denominator = total(step.d) - inner(offset, x);
  if (denominator > 0) move.bias = (step.sum_r - inner(offset, move.c)) / denominator;
  for (std::size_t i = 0; i < x.size(); ++i) move.c[i] -= move.bias * x[i];
  return true;
}

}  // namespace

std::unique_ptr<LogisticSpace> gram_space(const DenseGram& k) { return std::make_unique<GramSpace>(k); }
std::unique_ptr<LogisticSpace> factor_space(const GramFactor& factor) { return std::make_unique<FactorSpace>(factor); }

}  // namespace widelimit
