#include "widelimit/analysis/dynamics/flow/eigenpairs.hpp"
#include "widelimit/analysis/dynamics/flow/flow_solver.hpp"
#include "widelimit/analysis/dynamics/recorder.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/gram/indefinite.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

/// Closed form: in the eigenbasis of K with eigenvalues d, the coordinates of α decouple; with s = λ + 2d,
///
///     ȧ = −s a + 2ỹ − 2e^{−λt}h̃,   a(t) = e^{−st}a₀ + 2ỹ(1 − e^{−st})/s − 2h̃ e^{−λt}(1 − e^{−2dt})/(2d),
///
/// with limit 2ỹ/(λ + 2d), the ridge machine (K + λ/2·I)⁻¹y. NT-L's e^{−tH} is e^{−2tK} here, since EQ's loss has no
/// factor ½. O(n³) once, O(n²·outputs) per time. [docs/theory/dynamics.md]
class SquaredFlow final : public FlowSolver {
 public:
  explicit SquaredFlow(const FlowProblem& problem)
      : problem_(problem),
        n_(problem.k.samples()),
        outputs_(problem.input.targets.cols),
        pairs_(eigenpairs(problem.k, problem.progress)),
        alpha_(dense_or_zero(problem.start.alpha, n_, outputs_)),
        g_(n_, outputs_),
        y_(turned(dense_or_zero(problem.input.targets, n_, outputs_))),
        offset_(turned(dense_or_zero(problem.start.offset, n_, outputs_))),
        first_(turned(alpha_)),
        coordinates_(n_, outputs_) {}

  bool advance(double time) override {
    for (Index i = 0; i < n_; ++i) {
      for (Index j = 0; j < outputs_; ++j) coordinates_(i, j) = coordinate(i, j, time);
    }
    back(coordinates_, alpha_);
    for (Index i = 0; i < n_; ++i) {
      const double d = pairs_.values[static_cast<std::size_t>(i)];
      const double left = decay(problem_.input.lambda, time);
      for (Index j = 0; j < outputs_; ++j) coordinates_(i, j) = d * coordinates_(i, j) + left * offset_(i, j);
    }
    back(coordinates_, g_);
    return std::all_of(alpha_.data(), alpha_.data() + n_ * outputs_, [](double a) { return std::isfinite(a); });
  }

  [[nodiscard]] const Matrix<double>& alpha() const override { return alpha_; }
  [[nodiscard]] const Matrix<double>& g() const override { return g_; }

  [[nodiscard]] std::optional<Optimum> optimum() override {
    if (pairs_.indefinite) return std::nullopt;
    const double end = std::numeric_limits<double>::infinity();
    if (!advance(end)) return std::nullopt;
    const Moment moment{end, decay(problem_.input.lambda, end), alpha_, g_};
    return Optimum{objective_at(problem_.input, problem_.start, moment).objective, 0};
  }

  void report(Trajectory& trajectory) const override {
    Summary& summary = trajectory.summary;
    summary.method = "closed form by eigenvectors";
    summary.memory = 2 * sizeof(double) * static_cast<std::size_t>(n_ * n_);
    if (!pairs_.indefinite) return;
    summary.ending = Ending::not_positive_definite;
    summary.message = diagonal_shift_advice(problem_.k, problem_.progress);
  }

 private:
  [[nodiscard]] double coordinate(Index i, Index j, double time) const {
    const double lambda = problem_.input.lambda;
    const double d = pairs_.values[static_cast<std::size_t>(i)];
    // At λ = 0, null-space coefficients grow without bound but do not change outputs: the limit keeps the initial ones.
    if (std::isinf(time) && lambda == 0 && std::abs(d) <= pairs_.noise) return first_(i, j);
    const double pull = 2 * y_(i, j) * decayed_time(lambda + 2 * d, time);
    const double left = decay(lambda, time);
    const double outside = left == 0 ? 0.0 : 2 * offset_(i, j) * left * decayed_time(2 * d, time);
    return decay(lambda + 2 * d, time) * first_(i, j) + pull - outside;
  }

  /// Returns V·m.
  [[nodiscard]] Matrix<double> turned(const Matrix<double>& m) const {
    Matrix<double> result(n_, outputs_, Content::unset);
    problem_.k.algebra().multiply(Transpose::no, pairs_.vectors, m.view(), result.view());
    return result;
  }

  /// Computes Vᵀ·m.
  void back(const Matrix<double>& m, Matrix<double>& to) const {
    problem_.k.algebra().multiply(Transpose::yes, pairs_.vectors, m.view(), to.view());
  }

  FlowProblem problem_;
  Index n_;
  Index outputs_;
  Eigenpairs pairs_;
  Matrix<double> alpha_, g_, y_, offset_, first_, coordinates_;
};

}  // namespace

std::unique_ptr<FlowSolver> squared_flow(const FlowProblem& problem) { return std::make_unique<SquaredFlow>(problem); }

}  // namespace widelimit
