#include "widelimit/machine/logistic/logistic_space.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

using Vector = std::vector<double>;

/// Largest entry of S·K·S/μ for which I in B = I + S·K·S/μ is not lost to rounding; μ is increased accordingly.
constexpr double largest_ratio = 1e15;

Vector roots(const Vector& d) {
  Vector root(d.size());
  std::transform(d.begin(), d.end(), root.begin(), [](double value) { return std::sqrt(value); });
  return root;
}

/// Cholesky factor of B = I + S·K·S/μ with S = diag(s), whose eigenvalues are at least 1 if K is positive
/// semi-definite: the well-conditioned form of K + μS⁻² (Rasmussen & Williams 2006, §3.4.3).
class ShiftedFactor {
 public:
  explicit ShiftedFactor(const GramMatrix& k)
      : k_(k), factor_(k.algebra().allocate(k.samples(), k.samples(), Precision::f64)) {}

  /// Returns false if a leading minor is not positive. O(n³/3).
  [[nodiscard]] bool factorise(const Vector& s, double mu, Progress* progress) {
    const double by = 1 / std::sqrt(mu);
    Vector scale(s.size());
    std::transform(s.begin(), s.end(), scale.begin(), [by](double value) { return value * by; });
    norm_ = k_.algebra().scaled(k_.matrix(), scale, Vector(s.size(), 1.0), factor_, nullptr);
    return std::isfinite(norm_) && k_.algebra().cholesky(factor_, progress) == 0;
  }
  /// Computes B⁻¹x in place, n × columns. O(n²·columns).
  void solve(MatrixView<double> x) const { k_.algebra().solve_factored(factor_, x); }
  /// Returns the estimated condition number of B.
  [[nodiscard]] double condition() const { return k_.algebra().condition(factor_, norm_); }

 private:
  const GramMatrix& k_;
  EngineMatrix factor_;
  double norm_ = 0;  ///< ‖B‖₁
};

class GramSpace : public LogisticSpace {
 public:
  explicit GramSpace(const GramMatrix& k) : k_(k), factor_(k) {}

  [[nodiscard]] Index dimension() const override { return k_.samples(); }
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
    return sizeof(double) * static_cast<std::size_t>(k_.samples() * k_.samples());
  }

 private:
  /// Factorises with μ = λ or the smallest larger μ that succeeds; any μ gives a descent direction. Returns 0 if none
  /// does.
  double factorise(const LogisticStep& step, const Vector& root);

  const GramMatrix& k_;
  ShiftedFactor factor_;
  bool factored_ = false;
};

double GramSpace::factorise(const LogisticStep& step, const Vector& root) {
  double largest = 0;
  for (std::size_t i = 0; i < step.d.size(); ++i) largest = std::max(largest, step.d[i] * k_.diagonal()[i]);
  double mu = std::max(step.lambda, largest / largest_ratio);
  const double most = std::max(mu, largest) * static_cast<double>(k_.samples()) * 10;
  for (; mu <= most; mu *= 10) {
    if (factor_.factorise(root, mu, step.progress)) {
      factored_ = true;
      return mu;
    }
  }
  return 0;
}

/// Computes x = (μI + DK)⁻¹ρ = (ρ − S·B⁻¹·S·Kρ/μ)/μ, and with a bias Δα = x − Δb·(μI + DK)⁻¹d; summing the rows of
/// μΔα = ρ − D(KΔα + Δb) turns the condition of the bias into Σ(r − ρ + μΔα) = 0.
bool GramSpace::newton(const LogisticStep& step, LogisticMove& move) {
  const std::size_t n = step.d.size();
  const Vector root = roots(step.d);
  const double mu = factorise(step, root);
  if (mu == 0) return false;
  Matrix<double> z(std::ssize(step.d), step.bias ? 2 : 1, Content::unset);
  for (Index i = 0; i < z.rows(); ++i) {
    z(i, 0) = root[usize(i)] * step.rho_star[usize(i)] / mu;
    if (step.bias) z(i, 1) = root[usize(i)];
  }
  factor_.solve(z.view());
  move.c.resize(n);
  for (std::size_t i = 0; i < n; ++i) move.c[i] = (step.rho[i] - root[i] * z(static_cast<Index>(i), 0)) / mu;
  move.bias = 0;
  if (!step.bias) return true;
  double denominator = 0;
  for (Index i = 0; i < z.rows(); ++i) {
    z(i, 1) *= root[usize(i)] / mu;
    denominator += mu * z(i, 1);
  }
  if (denominator > 0) move.bias = (step.sum_r - total(step.rho) + mu * total(move.c)) / denominator;
  for (Index i = 0; i < z.rows(); ++i) move.c[usize(i)] -= move.bias * z(i, 1);
  return true;
}

class FactorSpace : public LogisticSpace {
 public:
  explicit FactorSpace(const GramFactor& factor)
      : factor_(factor), hessian_(factor.algebra().allocate(factor.rank(), factor.rank(), Precision::f64)) {}

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
    return norm_ > 0 ? std::optional(factor_.algebra().condition(hessian_, norm_)) : std::nullopt;
  }
  [[nodiscard]] std::size_t memory() const override {
    return sizeof(double) *
           static_cast<std::size_t>(factor_.count() * (factor_.count() + dimension()) + dimension() * dimension());
  }

 private:
  bool factorise(const LogisticStep& step);
  void solve(Vector& x) const { factor_.algebra().solve_factored(hessian_, {x.data(), std::ssize(x), 1, 1}); }

  const GramFactor& factor_;
  EngineMatrix hessian_;  ///< λI + LᵀDL, then its factor
  double norm_ = 0;       ///< ‖λI + LᵀDL‖₁; 0 before the first factorisation
};

bool FactorSpace::factorise(const LogisticStep& step) {
  const Algebra& algebra = factor_.algebra();
  const Vector weights = factor_.ordered(step.d);
  double largest = step.lambda;
  for (double mu = step.lambda; mu <= largest * 10; mu *= 10) {
    algebra.inner_product(factor_.rows(), weights, false, hessian_);
    for (const double own : algebra.diagonal(hessian_)) largest = std::max(largest, own);
    algebra.add_to_diagonal(hessian_, Vector(usize(dimension()), mu));
    norm_ = algebra.symmetric_norm(hessian_);
    if (algebra.cholesky(hessian_, step.progress) == 0) return true;
  }
  return false;
}

/// Computes Δβ = A⁻¹(ρ − LᵀdΔb), A = λI + LᵀDL, and Δb(Σd − dᵀLA⁻¹Lᵀd) = Σr − dᵀLA⁻¹ρ.
bool FactorSpace::newton(const LogisticStep& step, LogisticMove& move) {
  move = {step.rho, 0};
  if (dimension() > 0) {
    if (!factorise(step)) return false;
    solve(move.c);
  }
  if (!step.bias) return true;
  const Vector offset = pull(step.d);
  Vector x = offset;
  if (dimension() > 0) solve(x);
  const double denominator = total(step.d) - inner(offset, x);
  if (denominator > 0) move.bias = (step.sum_r - inner(offset, move.c)) / denominator;
  for (std::size_t i = 0; i < x.size(); ++i) move.c[i] -= move.bias * x[i];
  return true;
}

}  // namespace

std::unique_ptr<LogisticSpace> gram_space(const GramMatrix& k) { return std::make_unique<GramSpace>(k); }
std::unique_ptr<LogisticSpace> factor_space(const GramFactor& factor) { return std::make_unique<FactorSpace>(factor); }

}  // namespace widelimit
