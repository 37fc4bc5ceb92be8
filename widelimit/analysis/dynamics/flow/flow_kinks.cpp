#include "widelimit/analysis/dynamics/flow/flow_solver.hpp"
#include "widelimit/analysis/dynamics/flow/kink_flow.hpp"
#include "widelimit/analysis/dynamics/recorder.hpp"

#include <algorithm>
#include <limits>

namespace widelimit {

namespace {

std::vector<double> column_of(MatrixView<const double> m, Index samples, Index j) {
  std::vector<double> result(static_cast<std::size_t>(samples));
  for (Index i = 0; i < m.rows; ++i) result[static_cast<std::size_t>(i)] = m(i, j);
  return result;
}

void set_column(Matrix<double>& m, Index j, const std::vector<double>& values) {
  for (Index i = 0; i < m.rows(); ++i) m(i, j) = values[static_cast<std::size_t>(i)];
}

/// Outputs do not know of each other: each is a KinkFlow of its own.
class KinkedFlow final : public FlowSolver {
 public:
  explicit KinkedFlow(const FlowProblem& problem)
      : problem_(problem),
        alpha_(problem.k.samples(), problem.input.targets.cols),
        g_(problem.k.samples(), problem.input.targets.cols) {
    const Index n = problem_.k.samples();
    const Start& start = problem_.start;
    for (Index j = 0; j < problem_.input.targets.cols; ++j) {
      flows_.emplace_back(KinkFlow::Input{.k = problem_.k,
                                          .loss = problem_.input.loss,
                                          .targets = column_of(problem_.input.targets, n, j),
                                          .lambda = problem_.input.lambda,
                                          .alpha = column_of(start.alpha, n, j),
                                          .offset = column_of(start.offset, n, j),
                                          .most_events = problem_.most_events,
                                          .output = j},
                          problem_.beat);
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

  /// The flows go on to their end on copies, so that the reported events are those up to the requested times.
  [[nodiscard]] std::optional<Optimum> optimum() override {
    const double end = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < flows_.size(); ++j) {
      KinkFlow rest = flows_[j];
      if (!rest.advance(end)) return std::nullopt;
      set_column(alpha_, static_cast<Index>(j), rest.alpha());
      set_column(g_, static_cast<Index>(j), rest.g());
    }
    const Moment moment{end, decay(problem_.input.lambda, end), alpha_, g_};
    return Optimum{objective_at(problem_.input, problem_.start, moment).objective, 0};
  }

  void tell(Trajectory& trajectory) const override {
    Summary& summary = trajectory.summary;
    summary.method = "event by event, sliding on kinks";
    Index sliding = 0;
    for (const KinkFlow& flow : flows_) {
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
    const KinkFlow& flow = flows_[static_cast<std::size_t>(failed_)];
    summary.ending = Ending::iteration_limit;
    summary.message =
        flow.settled()
            ? fmt::format(
                  "output {} has had {} events by time {:.6g} and is not at the end; allow more, or ask for "
                  "earlier times",
                  failed_, flow.event_count(), flow.time())
            : fmt::format(
                  "the slopes on the margin did not settle at time {:.6g}; the Gram matrix may not be positive "
                  "semi-definite: add to its diagonal",
                  flow.time());
  }

 private:
  FlowProblem problem_;
  std::vector<KinkFlow> flows_;
  Matrix<double> alpha_, g_;
  Index failed_ = -1;
};

}  // namespace

std::unique_ptr<FlowSolver> kinked_flow(const FlowProblem& problem) { return std::make_unique<KinkedFlow>(problem); }

}  // namespace widelimit
