#include "widelimit/analysis/dynamics/flow/flow_solver.hpp"
#include "widelimit/analysis/dynamics/flow/least_subgradient.hpp"
#include "widelimit/analysis/dynamics/recorder.hpp"
#include "widelimit/analysis/dynamics/trajectory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace widelimit {

namespace {

/// Convex piecewise linear loss of one output: piece 0 below the first kink, piece p above kink p − 1.
struct Kinks {
  int count = 0;
  std::array<double, 2> at{};
  std::array<double, 3> slope{};  ///< slope of each piece, ascending
};

/// Returns the kinks: y for the hinge loss, with slope −y on the margin side and 0 beyond; y ∓ ε for the ε-insensitive
/// loss, or y if ε = 0.
Kinks kinks_of(const Loss& loss, double y) {
  if (loss.kind == LossKind::hinge) {
    return y > 0 ? Kinks{.count = 1, .at = {1}, .slope = {-1, 0}} : Kinks{.count = 1, .at = {-1}, .slope = {0, 1}};
  }
  // ε is below the resolution of y.
  if (y - loss.epsilon == y + loss.epsilon) return {.count = 1, .at = {y}, .slope = {-1, 1}};
  return {.count = 2, .at = {y - loss.epsilon, y + loss.epsilon}, .slope = {-1, 0, 1}};
}

/// Exact flow of one output under a piecewise linear loss. Between two events no sample changes its piece, so the
/// slopes u are constant, also those of sliding samples, and
///
///     α(t + τ) = e^{−λτ}α − u(1 − e^{−λτ})/λ,   g(t + τ) = e^{−λτ}g − Ku(1 − e^{−λτ})/λ
///
/// holds exactly. The next event is the first arrival of a sample at a kink κ, after τ = −log(1 − λ(κ − g)/ġ)/λ; the
/// slopes after it are those of the least subgradient. For λ > 0, the limit without further events is α = −u/λ, the
/// dual solution. Simultaneous events are processed one after another with τ = 0. O(n·sliding) per event.
/// [docs/theory/dynamics.md]
class OutputFlow {
 public:
  struct Input {
    const GramMatrix& k;
    const Loss& loss;
    std::vector<double> targets;
    double lambda = 0;
    std::vector<double> alpha;   ///< initial coefficients
    std::vector<double> offset;  ///< h, added to Kα
    Index most_events = 0;
    Index output = 0;  ///< index of the output, reported in events
  };
  OutputFlow(Input input, std::function<void()> on_progress);

  /// Advances to `time`; returns false if `most_events` is exceeded or the slopes do not converge.
  bool advance(double time);
  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] const std::vector<double>& alpha() const { return in_.alpha; }
  [[nodiscard]] const std::vector<double>& g() const { return g_; }
  [[nodiscard]] const std::vector<FlowEvent>& events() const { return events_; }
  [[nodiscard]] Index event_count() const { return count_; }
  [[nodiscard]] Index most_sliding() const { return most_sliding_; }
  [[nodiscard]] bool settled() const { return settled_; }

 private:
  struct Next {
    Index sample = -1;
    int kink = 0;
    double after = 0;
  };
  void place();
  void refresh();
  [[nodiscard]] Next next_event() const;
  void move(double tau);
  void arrive(const Next& next);
  void resolve_kinks(Index arrived);
  void set_on_kink(Index sample, int kink);
  [[nodiscard]] LeastSubgradient::State state();

  Input in_;
  std::function<void()> on_progress_;
  LeastSubgradient least_;
  std::vector<Kinks> kinks_;
  std::vector<int> piece_;  ///< piece of each sample that is not on a kink
  std::vector<int> kink_;   ///< kink that a sample is on, or −1
  std::vector<Index> on_kink_;
  std::vector<double> g_, u_, product_, pull_, lower_, upper_;
  double time_ = 0;
  double offset_left_ = 1;
  std::vector<FlowEvent> events_;
  Index count_ = 0;
  Index most_sliding_ = 0;
  bool settled_ = true;
};

/// Number of events between recomputations of Ku and g, which limit the accumulation of rounding errors.
constexpr Index events_between_refreshes = 64;
/// Maximum number of events that are listed.
constexpr std::size_t most_listed_events = 100'000;
constexpr double kink_rounding = 64 * std::numeric_limits<double>::epsilon();

OutputFlow::OutputFlow(Input input, std::function<void()> on_progress)
    : in_(std::move(input)), on_progress_(std::move(on_progress)), least_(in_.k) {
  const std::size_t n = in_.targets.size();
  for (const double y : in_.targets) kinks_.push_back(kinks_of(in_.loss, y));
  piece_.assign(n, 0);
  kink_.assign(n, -1);
  for (auto* list : {&g_, &u_, &product_, &pull_, &lower_, &upper_}) list->assign(n, 0.0);
  place();
}

LeastSubgradient::State OutputFlow::state() { return {on_kink_, lower_, upper_, pull_, u_, product_}; }

void OutputFlow::set_on_kink(Index sample, int kink) {
  const Kinks& kinks = kinks_[usize(sample)];
  const auto below = static_cast<std::size_t>(kink);
  kink_[usize(sample)] = kink;
  on_kink_.push_back(sample);
  lower_[usize(sample)] = kinks.slope[below];
  upper_[usize(sample)] = kinks.slope[below + 1];
  g_[usize(sample)] = kinks.at[below];
}

void OutputFlow::place() {
  in_.k.multiply(in_.alpha.data(), g_.data());
  for (Index i = 0; i < std::ssize(g_); ++i) {
    double& g = g_[usize(i)];
    g += in_.offset[usize(i)];
    const Kinks& kinks = kinks_[usize(i)];
    int piece = 0;
    for (int p = 0; p < kinks.count; ++p) {
      const double at = kinks.at[static_cast<std::size_t>(p)];
      if (std::abs(g - at) <= kink_rounding * std::max(std::abs(at), std::abs(g))) {
        set_on_kink(i, p);
        break;
      }
      if (g > at) piece = p + 1;
    }
    piece_[usize(i)] = piece;
    u_[usize(i)] = kinks.slope[static_cast<std::size_t>(piece)];
  }
  resolve_kinks(-1);
}

OutputFlow::Next OutputFlow::next_event() const {
  const double lambda = in_.lambda;
  Next next;
  double soonest = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < std::ssize(g_); ++i) {
    if (kink_[usize(i)] >= 0) continue;
    const double speed = -lambda * g_[usize(i)] - product_[usize(i)];
    const int kink = speed > 0 ? piece_[usize(i)] : piece_[usize(i)] - 1;
    if (kink < 0 || kink >= kinks_[usize(i)].count) continue;
    if (std::abs(speed) <= least_.rounding(i, lambda * g_[usize(i)])) continue;
    // Arrival time without decay of the speed; τ is monotone in it, so one logarithm suffices.
    const double ahead = std::max((kinks_[usize(i)].at[static_cast<std::size_t>(kink)] - g_[usize(i)]) / speed, 0.0);
    if (lambda * ahead < 1 && ahead < soonest) {
      soonest = ahead;
      next.sample = i;
      next.kink = kink;
    }
  }
  next.after = lambda == 0 ? soonest : -std::log1p(-lambda * soonest) / lambda;
  return next;
}

void OutputFlow::move(double tau) {
  const double lambda = in_.lambda;
  // At λ = 0 without further events only coefficients in the null space change.
  if (tau == 0 || (std::isinf(tau) && lambda == 0)) return;
  const double left = decay(lambda, tau);
  const double span = decayed_time(lambda, tau);
  for (std::size_t i = 0; i < g_.size(); ++i) {
    in_.alpha[i] = left * in_.alpha[i] - span * u_[i];
    if (kink_[i] < 0) g_[i] = left * g_[i] - span * product_[i];
  }
  offset_left_ *= left;
}

bool OutputFlow::advance(double time) {
  while (settled_) {
    on_progress_();
    if (time <= time_) return true;
    const Next next = next_event();
    if (next.sample < 0 || time_ + next.after > time) {
      if (std::isinf(time)) refresh();
      move(time - time_);
      time_ = time;
      return true;
    }
    if (count_ == in_.most_events) return false;
    move(next.after);
    time_ += next.after;
    arrive(next);
    if (count_ % events_between_refreshes == 0) refresh();
  }
  return false;
}

void OutputFlow::arrive(const Next& next) {
  ++count_;
  set_on_kink(next.sample, next.kink);
  resolve_kinks(next.sample);
}

void OutputFlow::resolve_kinks(Index arrived) {
  std::vector<bool> held(on_kink_.size());
  for (std::size_t e = 0; e < on_kink_.size(); ++e) {
    held[e] = least_.slides(on_kink_[e]);
    pull_[usize(on_kink_[e])] = in_.lambda * g_[usize(on_kink_[e])];
  }
  if (count_ == 0) least_.refine(state());
  settled_ = least_.solve(state());
  std::vector<Index> staying;
  for (std::size_t e = 0; e < on_kink_.size(); ++e) {
    const Index i = on_kink_[e];
    const bool slides = least_.slides(i);
    const double speed = -(pull_[usize(i)] + product_[usize(i)]);
    const bool below = u_[usize(i)] == lower_[usize(i)];
    const bool goes = !slides && (below ? -speed : speed) > least_.rounding(i, pull_[usize(i)]);
    if (goes) {
      piece_[usize(i)] = kink_[usize(i)] + (below ? 0 : 1);
      kink_[usize(i)] = -1;
    } else {
      staying.push_back(i);
    }
    if (i != arrived && held[e] == slides) continue;
    const KinkBehaviour behaviour = slides         ? KinkBehaviour::slides
                                    : !goes        ? KinkBehaviour::rests
                                    : i == arrived ? KinkBehaviour::crosses
                                                   : KinkBehaviour::leaves;
    if (events_.size() < most_listed_events) events_.push_back({time_, i, in_.output, behaviour});
  }
  on_kink_ = std::move(staying);
  most_sliding_ = std::max(most_sliding_, least_.sliding());
}

void OutputFlow::refresh() {
  least_.refine(state());
  std::vector<double> fresh(g_.size());
  in_.k.multiply(in_.alpha.data(), fresh.data());
  for (std::size_t i = 0; i < g_.size(); ++i) {
    if (kink_[i] < 0) g_[i] = fresh[i] + offset_left_ * in_.offset[i];
  }
}

std::vector<double> column_of(MatrixView<const double> m, Index samples, Index j) {
  std::vector<double> result(static_cast<std::size_t>(samples));
  for (Index i = 0; i < m.rows; ++i) result[static_cast<std::size_t>(i)] = m(i, j);
  return result;
}

void set_column(Matrix<double>& m, Index j, const std::vector<double>& values) {
  for (Index i = 0; i < m.rows(); ++i) m(i, j) = values[static_cast<std::size_t>(i)];
}

/// Outputs are independent: one OutputFlow per output.
class KinkedFlow final : public FlowSolver {
 public:
  explicit KinkedFlow(const FlowProblem& problem)
      : problem_(problem),
        alpha_(problem.k.samples(), problem.input.targets.cols),
        g_(problem.k.samples(), problem.input.targets.cols) {
    const Index n = problem_.k.samples();
    const Start& start = problem_.start;
    for (Index j = 0; j < problem_.input.targets.cols; ++j) {
      flows_.emplace_back(OutputFlow::Input{.k = problem_.k,
                                            .loss = problem_.input.loss,
                                            .targets = column_of(problem_.input.targets, n, j),
                                            .lambda = problem_.input.lambda,
                                            .alpha = column_of(start.alpha, n, j),
                                            .offset = column_of(start.offset, n, j),
                                            .most_events = problem_.most_events,
                                            .output = j},
                          problem_.on_progress);
    }
  }

  bool advance(double time) override {
    for (std::size_t j = 0; j < flows_.size(); ++j) {
      if (!flows_[j].advance(time)) {
        failed_ = static_cast<Index>(j);
        return false;
      }
      set_column(alpha_, static_cast<Index>(j), flows_[j].alpha());
      set_column(g_, static_cast<Index>(j), flows_[j].g());
    }
    return true;
  }

  [[nodiscard]] const Matrix<double>& alpha() const override { return alpha_; }
  [[nodiscard]] const Matrix<double>& g() const override { return g_; }

  /// Continues copies of the flows to infinite time, so that the reported events end at the requested times.
  [[nodiscard]] std::optional<Optimum> optimum() override {
    const double end = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < flows_.size(); ++j) {
      OutputFlow rest = flows_[j];
      if (!rest.advance(end)) return std::nullopt;
      set_column(alpha_, static_cast<Index>(j), rest.alpha());
      set_column(g_, static_cast<Index>(j), rest.g());
    }
    const Moment moment{end, decay(problem_.input.lambda, end), alpha_, g_};
    return Optimum{objective_at(problem_.input, problem_.start, moment).objective, 0};
  }

  void report(Trajectory& trajectory) const override {
    Summary& summary = trajectory.summary;
    summary.method = "event by event, sliding on kinks";
    Index sliding = 0;
    for (const OutputFlow& flow : flows_) {
      trajectory.event_count += flow.event_count();
      trajectory.events.insert(trajectory.events.end(), flow.events().begin(), flow.events().end());
      sliding = std::max(sliding, flow.most_sliding());
    }
    std::stable_sort(trajectory.events.begin(), trajectory.events.end(),
                     [](const FlowEvent& a, const FlowEvent& b) { return a.time < b.time; });
    summary.iterations = trajectory.event_count;
    summary.memory = sizeof(double) * static_cast<std::size_t>(8 * problem_.k.samples() + sliding * sliding / 2) +
                     sizeof(FlowEvent) * trajectory.events.size();
    if (failed_ < 0) return;
    const OutputFlow& flow = flows_[static_cast<std::size_t>(failed_)];
    summary.ending = Ending::iteration_limit;
    summary.message =
        flow.settled()
            ? fmt::format(
                  "output {} reached the limit of {} events at time {:.6g}; raise the limit, or choose "
                  "earlier times",
                  failed_, flow.event_count(), flow.time())
            : fmt::format(
                  "the slopes at the kinks did not converge at time {:.6g}; the Gram matrix may not be positive "
                  "semi-definite: add to its diagonal",
                  flow.time());
  }

 private:
  FlowProblem problem_;
  std::vector<OutputFlow> flows_;
  Matrix<double> alpha_, g_;
  Index failed_ = -1;
};

}  // namespace

std::unique_ptr<FlowSolver> kinked_flow(const FlowProblem& problem) { return std::make_unique<KinkedFlow>(problem); }

}  // namespace widelimit
