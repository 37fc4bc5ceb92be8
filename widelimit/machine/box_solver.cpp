#include "widelimit/machine/box_solver.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/machine/active_set.hpp"

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

/// Cycles, roughly, of a working set and of an exact step; only their ratio matters.
double cost_of_step(Index active) { return 60 + 2.5 * static_cast<double>(active); }
double cost_of_face(Index active, Index face) {
  const auto f = static_cast<double>(face);
  return 2000 + f * f * f / 40 + 4 * f * f + f * static_cast<double>(active);
}

/// Exact steps on larger faces take longer than a user waits for Ctrl-C.
constexpr Index largest_face = 3000;
/// Working sets between two looks whether an exact step is due.
constexpr Index between_faces = 32;
/// While most variables still look for their side, exact steps are rarely worth what they cost; where working sets have
/// not got there after several times as many as there are variables, they are the better way.
double time_for_faces(Index iterations, Index variables) {
  const double rounds = static_cast<double>(iterations) / static_cast<double>(4 * variables);
  return std::max(1.0, rounds * rounds) / 16;
}
constexpr int faces_at_once = 50;
/// Largest violation, relative to p, after which the gap is computed for the first time.
constexpr double first_violation = 3e-3;
/// Rounds in which rounding ended the descent before optimality did.
constexpr int most_stalls = 3;

template <std::floating_point T>
class Decomposition final : public BoxSolver::Worker {
 public:
  Decomposition(MatrixView<const T> gram, std::vector<Index> samples, std::size_t room) : root_(gram) {
    if (!samples.empty()) part_.emplace(root_, std::move(samples), room);
  }

  BoxSolution solve(const BoxProblem& problem, const BoxOptions& options, BoxStart start) override {
    const SequentialBlas sequential;
    problem_ = &problem;
    options_ = &options;
    team_ = team_size(options.threads);
    limit_ = options.max_iterations > 0 ? options.max_iterations : std::max<Index>(10'000'000, 100 * problem.size());
    found_ = {};
    shrunk_ = false;
    begin(start);
    descend();
    found_.memory += (part_ ? part_->bytes() : 0) + 4 * found_.a.size() * sizeof(double);
    return std::move(found_);
  }

 private:
  [[nodiscard]] Columns<T>& columns() { return part_ ? *part_ : root_; }

  void begin(BoxStart start) {
    const auto n = at(problem_->size());
    found_.a.assign(n, 0.0);
    found_.product.assign(n, 0.0);
    gradient_.assign(n, 0.0);
    if (!start.a.empty()) {
      std::copy(start.a.begin(), start.a.end(), found_.a.begin());
      if (start.product.empty()) {
        compute_product();
      } else {
        std::copy(start.product.begin(), start.product.end(), found_.product.begin());
      }
    }
    gradient_from_product();
  }

  void gradient_from_product() {
    for (std::size_t i = 0; i < gradient_.size(); ++i) {
      const double ridge = problem_->ridge_at(static_cast<Index>(i));
      gradient_[i] = found_.product[i] + ridge * found_.a[i] + problem_->linear[i];
    }
  }

  void product_from_gradient() {
    for (std::size_t i = 0; i < gradient_.size(); ++i) {
      const double ridge = problem_->ridge_at(static_cast<Index>(i));
      found_.product[i] = gradient_[i] - ridge * found_.a[i] - problem_->linear[i];
    }
  }

  /// Ka from nothing but a: O(n·support vectors).
  void compute_product() {
    std::fill(found_.product.begin(), found_.product.end(), 0.0);
    const std::vector<double> unused(found_.a.size());
    for (Index j = 0; j < problem_->size(); ++j) {
      const double a = found_.a[at(j)];
      if (a == 0) continue;
      const T* column = columns().column(j);
      (void)cpu::advance({column, a, column, 0.0}, unused.data(), found_.product.data(), problem_->size());
    }
  }

  /// Half way between the slopes that still want to rise and those that want to fall; where one side is empty, the
  /// other.
  [[nodiscard]] double best_bias() const {
    double least = no_bound;
    double largest = -no_bound;
    for (std::size_t i = 0; i < gradient_.size(); ++i) {
      const double a = found_.a[i];
      if (a < problem_->upper[i]) least = std::min(least, gradient_[i] + (a >= 0 ? 1 : -1) * problem_->epsilon);
      if (a > problem_->lower[i]) largest = std::max(largest, gradient_[i] + (a > 0 ? 1 : -1) * problem_->epsilon);
    }
    if (std::isinf(least) && std::isinf(largest)) return 0;
    if (std::isinf(least)) return -largest;
    if (std::isinf(largest)) return -least;
    return -(least + largest) / 2;
  }

  void judge() {
    found_.bias = problem_->equality ? best_bias() : 0;
    found_.objectives = objectives(*problem_, found_.a, found_.product, found_.bias);
  }

  /// Σ|aᵢ|² against aᵀKa, where nothing but the data keeps a finite.
  [[nodiscard]] bool proves_inseparable() const {
    if (!problem_->ridge.empty()) return false;
    double size = 0;
    double norm = 0;
    double diagonal = 0;
    bool infinite = false;
    for (std::size_t i = 0; i < found_.a.size(); ++i) {
      size += std::abs(found_.a[i]);
      norm += found_.a[i] * found_.product[i];
      infinite = infinite || std::isinf(problem_->upper[i]) || std::isinf(problem_->lower[i]);
      if (found_.a[i] != 0) {
        const Columns<T>& here = part_ ? *part_ : root_;
        diagonal = std::max(diagonal, here.diagonal(static_cast<Index>(i)));
      }
    }
    const double rounding = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
    return infinite && size > 0 && norm <= rounding * diagonal * size * size;
  }

  /// What rounding alone does to an entry of the gradient: a few ε‖a‖ max K_ii. Fewer digits than this are no
  /// violation.
  [[nodiscard]] double gradient_noise() {
    double squares = 0;
    double diagonal = 0;
    for (std::size_t i = 0; i < found_.a.size(); ++i) {
      squares += found_.a[i] * found_.a[i];
      diagonal = std::max(diagonal, columns().diagonal(static_cast<Index>(i)));
    }
    return 4 * std::numeric_limits<double>::epsilon() * std::sqrt(squares) * diagonal;
  }

  void descend() {
    const double scale = std::transform_reduce(
        problem_->linear.begin(), problem_->linear.end(), 0.0, [](double x, double y) { return std::max(x, y); },
        [](double p) { return std::abs(p); });
    double allowed = first_violation * scale;
    bool near = false;
    judge();
    if (found_.objectives.gap() <= options_->tolerance) return;
    for (int stalls = 0;;) {
      const Move ended = run(allowed, near);
      judge();
      if (found_.objectives.gap() <= options_->tolerance && confirmed()) return;
      if (ended == Move::unbounded || proves_inseparable()) {
        found_.ending = Ending::not_separable;
        return;
      }
      const double noise = std::max(1e-15 * scale, gradient_noise());
      stalls += ended == Move::stalled ? 1 : 0;
      if (found_.iterations >= limit_ || stalls == most_stalls || !(allowed > noise)) {
        found_.ending = Ending::iteration_limit;
        found_.rounded = found_.iterations < limit_ && gradient_noise() >= options_->tolerance * scale;
        return;
      }
      // Variables left out too early are worth another round before more digits are.
      near = !shrunk_;
      if (near) {
        allowed = std::max(noise, allowed * std::clamp(options_->tolerance / found_.objectives.gap(), 0.03, 0.3));
      }
    }
  }

  /// Whether the gap holds for a product computed afresh, and for the coefficients it was computed for: those of a
  /// separating classifier are scaled to margins of 1.
  [[nodiscard]] bool confirmed() {
    compute_product();
    judge();
    const double t = found_.objectives.scale;
    bool fits = true;
    for (std::size_t i = 0; i < found_.a.size(); ++i) {
      fits = fits && t * found_.a[i] <= problem_->upper[i] && t * found_.a[i] >= problem_->lower[i];
    }
    if (t != 1 && fits) {
      for (std::size_t i = 0; i < found_.a.size(); ++i) {
        found_.a[i] *= t;
        found_.product[i] *= t;
      }
      found_.bias *= t;
      found_.objectives = objectives(*problem_, found_.a, found_.product, found_.bias);
    }
    gradient_from_product();
    return found_.objectives.gap() <= options_->tolerance;
  }

  /// Until no violation exceeds `allowed`, over all variables at first and fewer and fewer later.
  /// `near` the optimum the face hardly changes any more, and exact steps come first.
  Move run(double allowed, bool near) {
    std::vector<Index> everyone(at(problem_->size()));
    std::iota(everyone.begin(), everyone.end(), Index{0});
    std::unique_ptr<Columns<T>> packed;
    auto active = std::make_unique<ActiveSet<T>>(*problem_, columns(), std::move(everyone), found_.a, gradient_, team_);
    const bool may_shrink = !shrunk_;  // what was left out too early once is not left out twice
    Move ended = Move::made;
    if (near && active->free_count() <= largest_face && exact_steps(*active) == Move::unbounded) {
      ended = Move::unbounded;
    }
    while (ended == Move::made) {
      ended = run_active(*active, allowed, may_shrink);
      active->write(found_.a, gradient_);
      found_.memory = std::max(found_.memory, active->bytes() + (packed ? packed->bytes() : 0));
      if (ended != Move::made) break;
      std::vector<Index> kept = active->unsettled();
      active.reset();
      packed.reset();
      packed = std::make_unique<Columns<T>>(columns(), kept, options_->room);
      active = std::make_unique<ActiveSet<T>>(*problem_, *packed, std::move(kept), found_.a, gradient_, team_);
    }
    shrunk_ = packed != nullptr;
    if (shrunk_) {
      compute_product();
      gradient_from_product();
    } else {
      product_from_gradient();
    }
    return ended;
  }

  /// Move::made where enough variables have settled to leave them out.
  Move run_active(ActiveSet<T>& active, double allowed, bool may_shrink) {
    Pulse pulse(options_->progress, limit_, "working sets");
    const Index between_looks = std::clamp<Index>(active.size(), 1000, 4000);
    double spent = 0;
    double descent = 0;
    for (Index count = 1; found_.iterations < limit_; ++count) {
      const Move move = active.step(allowed);
      if (move != Move::made) return move;
      ++found_.iterations;
      spent += cost_of_step(active.size());
      if (count % between_faces == 0) {
        pulse.at(found_.iterations);
        const Index face = active.free_count();
        const double share = time_for_faces(found_.iterations, problem_->size());
        if (face <= largest_face && cost_of_face(active.size(), face) <= share * spent) {
          const Index before = found_.iterations;
          if (exact_steps(active) == Move::unbounded) return Move::unbounded;
          spent -= cost_of_face(active.size(), face) / share * static_cast<double>(found_.iterations - before);
        }
      }
      if (count % between_looks != 0) continue;
      if (may_shrink && 10 * std::ssize(active.unsettled()) <= 7 * active.size()) return Move::made;
      const double worth = 1e-5 * options_->tolerance * (std::abs(found_.objectives.dual) + active.descent());
      if (active.descent() - descent <= worth) return Move::stalled;
      descent = active.descent();
    }
    return Move::stalled;
  }

  Move exact_steps(ActiveSet<T>& active) {
    for (int i = 0; i < faces_at_once; ++i) {
      const Move move = active.face_step();
      ++found_.iterations;
      if (move != Move::made) return move;
    }
    return Move::made;
  }

  Columns<T> root_;
  std::optional<Columns<T>> part_;
  const BoxProblem* problem_ = nullptr;
  const BoxOptions* options_ = nullptr;
  int team_ = 1;
  Index limit_ = 0;
  bool shrunk_ = false;  ///< the last round ended without some of the variables
  BoxSolution found_;
  std::vector<double> gradient_;
};

}  // namespace

BoxSolver::BoxSolver(const AnyView& gram, std::vector<Index> samples, std::size_t room)
    : worker_(std::visit(
          [&]<typename T>(const MatrixView<const T>& k) -> std::unique_ptr<Worker> {
            return std::make_unique<Decomposition<T>>(k, std::move(samples), room);
          },
          gram)) {}
BoxSolver::~BoxSolver() = default;
BoxSolver::BoxSolver(BoxSolver&&) noexcept = default;
BoxSolver& BoxSolver::operator=(BoxSolver&&) noexcept = default;

BoxSolution BoxSolver::solve(const BoxProblem& problem, const BoxOptions& options, BoxStart start) {
  return worker_->solve(problem, options, start);
}

}  // namespace widelimit
