#include "widelimit/machine/svm/box_solver.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"
#include "widelimit/machine/svm/active_set.hpp"
#include "widelimit/machine/svm/box_evaluator.hpp"
#include "widelimit/machine/svm/interior_point.hpp"
#include "widelimit/machine/svm/partial_factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace widelimit {

struct BoxSolver::Worker {
  virtual ~Worker() = default;
  virtual BoxSolution solve(const BoxProblem& problem, const BoxOptions& options, BoxStart start) = 0;
};

namespace {

/// Approximate cycles of a working set and of an exact step; only their ratio matters.
double cost_of_step(Index active) { return 60 + 2.5 * static_cast<double>(active); }
double cost_of_face(Index active, Index face) {
  const auto f = static_cast<double>(face);
  return 2000 + f * f * f / 24 + 12 * f * f + f * static_cast<double>(active);
}

/// Approximate cycles of an interior point method: the usual number of iterations, with one product of n·rank² each.
double cost_of_interior(Index samples, Index rank) {
  const auto n = static_cast<double>(samples);
  const auto r = static_cast<double>(rank);
  return 30 * (20'000 + 250 * n + 12 * n * r + n * r * r / 8 + r * r * r / 12);
}
/// Fraction of the time of the steps that may be spent on a factor that may not help.
constexpr double time_for_factor = 0.1;
constexpr int most_interior_steps = 100;

/// Exact steps on larger faces would delay the response to an interruption.
constexpr Index largest_face = 3000;
/// Number of working sets between checks for an exact step.
constexpr Index between_faces = 32;
/// Fraction of the time for exact steps. While most variables have not settled, exact steps are rarely worth their
/// cost; if working sets have not converged after several times as many steps as variables, exact steps are better.
double time_for_faces(Index iterations, Index variables) {
  const double rounds = static_cast<double>(iterations) / static_cast<double>(4 * variables);
  return std::max(1.0, rounds * rounds) / 16;
}
constexpr int faces_at_once = 50;
/// Whether no working sets should follow a face step with this result.
bool ends_round(Move exact) { return exact == Move::unbounded || exact == Move::indefinite || exact == Move::slow; }
/// Violation, relative to p, at which the gap is first computed.
constexpr double first_violation = 3e-3;
/// Rounds that may end by rounding instead of optimality.
constexpr int most_stalls = 3;

template <std::floating_point T>
class Decomposition final : public BoxSolver::Worker {
 public:
  Decomposition(const GramMatrix& gram, std::vector<Index> samples, std::size_t memory)
      : columns_(gram, std::move(samples), memory),
        algebra_(gram.algebra()),
        asymmetry_(gram.check()),
        excess_(2 * semidefinite_allowance(gram.samples(), gram.precision())),
        evaluator_(columns_, asymmetry_, excess_, [this] { ticker_->at(found_.iterations); }) {}

  BoxSolution solve(const BoxProblem& problem, const BoxOptions& options, BoxStart start) override {
    problem_ = &problem;
    options_ = &options;
    limit_ = options.max_iterations > 0 ? options.max_iterations : std::max<Index>(10'000'000, 100 * problem.size());
    found_ = {};
    best_.objectives.primal = no_bound;
    shrunk_ = false;
    work_ = 0;
    interior_point_work_ = may_leave_boundary() ? first_check() : no_bound;
    scale_ = 0;
    for (const double p : problem.linear) scale_ = std::max(scale_, std::abs(p));
    ticker_.emplace(options.progress, limit_, "working sets");
    evaluator_.set_problem(problem);
    begin(start);
    descend();
    found_.memory +=
        columns_.bytes() + 8 * found_.a.size() * sizeof(double) + face_.bytes() + (factor_ ? factor_->bytes() : 0);
    return std::move(found_);
  }

 private:
  void begin(BoxStart start) {
    const auto n = usize(problem_->size());
    found_.a.assign(n, 0.0);
    found_.product.assign(n, 0.0);
    gradient_.assign(n, 0.0);
    if (!start.a.empty()) {
      std::copy(start.a.begin(), start.a.end(), found_.a.begin());
      if (start.product.empty()) {
        refresh();
      } else {
        std::copy(start.product.begin(), start.product.end(), found_.product.begin());
        if (start.error) evaluator_.set_error(found_.a, *start.error);
      }
    }
    gradient_from_product();
  }

  void gradient_from_product() {
    for (std::size_t i = 0; i < gradient_.size(); ++i) {
      const double ridge = problem_->ridge_at(static_cast<Index>(i));
      gradient_[i] = found_.product[i] + problem_->linear[i] + ridge * found_.a[i];
    }
  }

  void product_from_gradient() {
    for (std::size_t i = 0; i < gradient_.size(); ++i) {
      const double ridge = problem_->ridge_at(static_cast<Index>(i));
      found_.product[i] = gradient_[i] - ridge * found_.a[i] - problem_->linear[i];
    }
  }

  void refresh() {
    evaluator_.refresh(found_);
    gradient_from_product();
  }

  void descend() {
    if (evaluator_.negative_diagonal()) {
      found_.ending = Ending::not_positive_definite;
      return;
    }
    double allowed = first_violation * scale_;
    bool near = false;
    if (confirmed()) return;
    for (int stalls = 0;;) {
      const Move ended = run(allowed, near);
      if (confirmed()) return;
      if (ended == Move::slow) {
        if (found_by_interior_point()) return;
        continue;
      }
      if (ended == Move::indefinite || ended == Move::unbounded) {
        if (ends_by(evaluator_.proof_of(ray_))) return;
      }
      if (evaluator_.may_be_inseparable(found_) && ends_by(evaluator_.proof_of(found_.a))) return;
      const double noise = std::max(1e-15 * scale_, evaluator_.gradient_noise(found_.a));
      stalls += ended == Move::none ? 0 : 1;
      if (found_.iterations >= limit_ || stalls >= most_stalls || !(allowed > noise)) {
        if (has_few_dimensions()) {
          if (found_by_interior_point()) return;
          continue;
        }
        end_with_best();
        return;
      }
      // If variables were removed too early, run another round before tightening the tolerance.
      near = !shrunk_;
      if (near) {
        allowed = std::max(noise, allowed * std::clamp(options_->tolerance / found_.objectives.gap(), 0.03, 0.3));
      }
    }
  }

  /// Whether bounds or a ridge keep every coefficient finite, as the interior point method requires.
  [[nodiscard]] bool may_leave_boundary() const {
    for (Index i = 0; i < problem_->size(); ++i) {
      const bool bounded = std::isfinite(problem_->upper[usize(i)]) && std::isfinite(problem_->lower[usize(i)]);
      if (!bounded && !(problem_->ridge_at(i) > 0)) return false;
    }
    return true;
  }

  /// Returns the work after which to check whether K has low rank.
  [[nodiscard]] double first_check() const {
    const Index n = problem_->size();
    const bool known = factor_ && factor_->complete();
    return cost_of_interior(n, known ? factor_->rank() : std::min<Index>(n / 4, 16));
  }

  /// Returns the largest useful rank: a column after r others takes about 2nr cycles, limited by memory
  /// bandwidth; more columns would exceed their share of the time spent.
  [[nodiscard]] Index useful_rank() const {
    const Index n = problem_->size();
    const double by_time = std::sqrt(time_for_factor * work_ / static_cast<double>(n));
    return std::min(most_dimensions(), static_cast<Index>(std::min(by_time, static_cast<double>(n))));
  }

  /// Returns the largest rank of a factor: at most half the samples, since more saves nothing, and limited by memory.
  [[nodiscard]] Index most_dimensions() const {
    const Index n = problem_->size();
    const double rank_in_memory =
        static_cast<double>(options_->memory) / (3.0 * sizeof(double) * static_cast<double>(n));
    return static_cast<Index>(std::min(rank_in_memory, static_cast<double>(n) / 2));
  }

  /// Whether K has such a low rank that an interior point method takes less time than the steps so far. If not,
  /// schedules the next check.
  [[nodiscard]] bool interior_point_is_shorter() {
    const Index n = problem_->size();
    if (!factor_) factor_.emplace(columns_);
    factor_->extend(useful_rank(), [this] { ticker_->at(found_.iterations); });
    const double cost = cost_of_interior(n, factor_->rank());
    if (factor_->complete() && cost <= work_) return true;
    interior_point_work_ = std::max(2 * work_, cost);
    if (!factor_->complete() && factor_->rank() >= n / 2) interior_point_work_ = no_bound;
    return false;
  }

  /// Whether the interior point method may continue after rounding has stopped all steps: it was not tried, and K has
  /// low rank.
  [[nodiscard]] bool has_few_dimensions() {
    if (interior_point_work_ == no_bound || found_.iterations >= limit_) return false;
    if (!factor_) factor_.emplace(columns_);
    factor_->extend(most_dimensions(), [this] { ticker_->at(found_.iterations); });
    if (!factor_->complete()) interior_point_work_ = no_bound;
    return factor_->complete();
  }

  bool found_by_interior_point() {
    interior_point_work_ = no_bound;
    found_.rank = factor_->rank();
    evaluator_.evaluate_nominal(found_);
    const BoxSolution before = found_;
    InteriorPoint point(*problem_, algebra_, algebra_.copy_of(factor_->rows().view()));
    double target_gap = options_->tolerance / 8;
    for (int step = 0; step < most_interior_steps && point.step(); ++step) {
      ++found_.iterations;
      ticker_->at(found_.iterations);
      if (point.gap() > target_gap) continue;
      found_.a = point.coefficients();
      refresh();
      evaluator_.set_error(found_.a, evaluator_.error());
      if (confirmed()) {
        found_.interior = true;
        return true;
      }
      target_gap = point.gap() / 10;
    }
    evaluator_.evaluate_nominal(found_);
    if (!(found_.objectives.dual > before.objectives.dual)) {
      found_.a = before.a;
      found_.product = before.product;
      gradient_from_product();
    }
    return false;
  }

  /// Whether the gap is below the tolerance; if so nominally, rounding is included.
  [[nodiscard]] bool confirmed() {
    evaluator_.evaluate_nominal(found_);
    return found_.objectives.gap() <= options_->tolerance && counted();
  }

  [[nodiscard]] bool counted() {
    evaluator_.evaluate_rigorous(found_, options_->tolerance);
    found_.error = {{}, evaluator_.error().relative, evaluator_.error().absolute};
    gradient_from_product();
    if (found_.objectives.gap() < best_.objectives.gap()) best_ = found_;
    return found_.objectives.gap() <= options_->tolerance;
  }

  bool ends_by(Proof proof) {
    if (proof == Proof::none) return false;
    found_.ending = proof == Proof::indefinite ? Ending::not_positive_definite : Ending::not_separable;
    return true;
  }

  /// Ends with the best solution so far, unless the current one meets the tolerance with rounding included.
  void end_with_best() {
    evaluator_.evaluate_nominal(found_);
    if (counted()) return;
    if (best_.objectives.gap() < found_.objectives.gap()) {
      found_.a = best_.a;
      found_.product = best_.product;
      found_.error = best_.error;
      found_.bias = best_.bias;
      found_.objectives = best_.objectives;
    }
    found_.ending = Ending::iteration_limit;
    found_.rounded = found_.iterations < limit_;
  }

  /// Runs until no violation exceeds `allowed`, over all variables first, then with shrinking. If `near` the optimum,
  /// the face hardly changes, and exact steps come first.
  Move run(double allowed, bool near) {
    std::vector<Index> all(usize(problem_->size()));
    std::iota(all.begin(), all.end(), Index{0});
    std::unique_ptr<GramColumns<T>> packed;
    auto active = std::make_unique<ActiveSet<T>>(*problem_, columns_, std::move(all), found_.a, gradient_, excess_);
    const bool may_shrink = !shrunk_;  // no shrinking if it removed variables too early before
    Move ended = Move::made;
    if (near && active->free_count() <= largest_face) {
      const Move exact = exact_steps(*active, allowed);
      if (ends_round(exact)) {
        ended = exact;
        active->write(found_.a, gradient_);
      }
    }
    while (ended == Move::made) {
      ended = run_active(*active, allowed, may_shrink);
      active->write(found_.a, gradient_);
      found_.memory = std::max(found_.memory, active->bytes() + (packed ? packed->bytes() : 0));
      if (ended != Move::made) break;
      std::vector<Index> kept = active->unsettled();
      active.reset();
      packed.reset();
      packed = std::make_unique<GramColumns<T>>(columns_, kept, options_->memory);
      active = std::make_unique<ActiveSet<T>>(*problem_, *packed, std::move(kept), found_.a, gradient_, excess_);
    }
    if (ended == Move::unbounded || ended == Move::indefinite) ray_ = active->ray(problem_->size());
    shrunk_ = packed != nullptr;
    if (shrunk_ || evaluator_.precise()) {
      refresh();
    } else {
      product_from_gradient();
    }
    return ended;
  }

  /// Returns Move::made if enough variables have settled to remove them.
  Move run_active(ActiveSet<T>& active, double allowed, bool may_shrink) {
    const Index check_interval = std::clamp<Index>(active.size(), 1000, 4000);
    double spent = 0;
    double descent = 0;
    for (Index count = 1; found_.iterations < limit_; ++count) {
      const Move move = active.step(allowed);
      if (move != Move::made) return move;
      ++found_.iterations;
      spent += cost_of_step(active.size());
      work_ += cost_of_step(active.size());
      if (count % between_faces == 0) {
        ticker_->at(found_.iterations);
        const Index face = active.free_count();
        const double share = time_for_faces(found_.iterations, problem_->size());
        if (face <= largest_face && cost_of_face(active.size(), face) <= share * spent) {
          const double before = work_;
          const Move exact = exact_steps(active, allowed);
          if (ends_round(exact)) return exact;
          spent -= (work_ - before) / share;
        }
        if (work_ >= interior_point_work_ && interior_point_is_shorter()) return Move::slow;
      }
      if (count % check_interval != 0) continue;
      if (may_shrink && 10 * std::ssize(active.unsettled()) <= 7 * active.size()) return Move::made;
      const double least_descent = 1e-5 * options_->tolerance * (std::abs(found_.objectives.dual) + active.descent());
      if (active.descent() - descent <= least_descent) return Move::stalled;
      descent = active.descent();
    }
    return Move::stalled;
  }

  Move exact_steps(ActiveSet<T>& active, double allowed) {
    const double before = face_.work();
    const Move move = active.minimise_face(face_, faces_at_once, allowed, [this] { ticker_->at(++found_.iterations); });
    work_ += face_.work() - before + static_cast<double>(face_.size() * active.size());
    if (!ends_round(move) && work_ >= interior_point_work_ && interior_point_is_shorter()) return Move::slow;
    return move;
  }

  GramColumns<T> columns_;
  const Algebra& algebra_;
  double asymmetry_;
  double excess_;  ///< relative excess of entries that the semi-definiteness test allows
  const BoxProblem* problem_ = nullptr;
  const BoxOptions* options_ = nullptr;
  Index limit_ = 0;
  double scale_ = 0;                ///< max |p|
  bool shrunk_ = false;             ///< the last round ended with some variables removed
  double work_ = 0;                 ///< approximate cycles of the steps on this problem
  double interior_point_work_ = 0;  ///< work after which to check for an interior point method
  Face face_;
  std::optional<PartialFactor<T>> factor_;
  std::optional<ProgressTicker> ticker_;
  BoxEvaluator<T> evaluator_;
  BoxSolution found_;
  BoxSolution best_;  ///< best solution with rounding included
  std::vector<double> gradient_;
  std::vector<double> ray_;  ///< unbounded or negative-curvature direction of the last round
};

}  // namespace

BoxSolver::BoxSolver(const GramMatrix& gram, std::vector<Index> samples, std::size_t memory) {
  if (gram.precision() == Precision::f32) {
    worker_ = std::make_unique<Decomposition<float>>(gram, std::move(samples), memory);
  } else {
    worker_ = std::make_unique<Decomposition<double>>(gram, std::move(samples), memory);
  }
}
BoxSolver::~BoxSolver() = default;
BoxSolver::BoxSolver(BoxSolver&&) noexcept = default;
BoxSolver& BoxSolver::operator=(BoxSolver&&) noexcept = default;

BoxSolution BoxSolver::solve(const BoxProblem& problem, const BoxOptions& options, BoxStart start) {
  return worker_->solve(problem, options, start);
}

}  // namespace widelimit
