#pragma once

#include "widelimit/analysis/dynamics/flow/kinks.hpp"
#include "widelimit/analysis/dynamics/flow/least_subgradient.hpp"
#include "widelimit/analysis/dynamics/trajectory.hpp"

#include <functional>

namespace widelimit {

/// One output under a loss of straight pieces. Between two events no sample changes its piece, so the slopes u are
/// constant, those of sliding samples too, and
///
///     α(t + τ) = e^{−λτ}α − u(1 − e^{−λτ})/λ,   g(t + τ) = e^{−λτ}g − Ku(1 − e^{−λτ})/λ
///
/// exactly. The next event is the first sample to meet a kink κ, after τ = −log(1 − λ(κ − g)/ġ)/λ; the slopes after it
/// are those of the least subgradient. With λ > 0 and no event left the limit is α = −u/λ, the dual solution. Events of
/// one time follow each other after τ = 0.  O(n·sliding) for an event.                      [docs/theory/dynamics.md]
class KinkFlow {
 public:
  struct Input {
    const GramMatrix& k;
    const Loss& loss;
    std::vector<double> targets;
    double lambda = 0;
    std::vector<double> alpha;   ///< at the start
    std::vector<double> offset;  ///< beside Kα
    Index most_events = 0;
    Index output = 0;  ///< its number, for events
  };
  KinkFlow(Input input, std::function<void()> beat);

  /// False where `most_events` do not reach `time`, or slopes could not be settled.
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
  void settle(Index arrived);
  void set_on_kink(Index sample, int kink);
  [[nodiscard]] LeastSubgradient::State state();

  Input in_;
  std::function<void()> beat_;
  LeastSubgradient least_;
  std::vector<Kinks> kinks_;
  std::vector<int> piece_;  ///< of samples that are not on a kink
  std::vector<int> kink_;   ///< that a sample is on, or −1
  std::vector<Index> on_kink_;
  std::vector<double> g_, u_, product_, pull_, lower_, upper_;
  double time_ = 0;
  double offset_left_ = 1;
  std::vector<FlowEvent> events_;
  Index count_ = 0;
  Index most_sliding_ = 0;
  bool settled_ = true;
};

}  // namespace widelimit
