// Votes of one-vs-one machines at new points, without the matrix of decisions: for 100 classes, 800 points and 7 values
// of λ it has 28 million entries, but a point needs only 100 sums of them.

#include "widelimit/base/error.hpp"
#include "widelimit/machine/multiclass.hpp"

#include <algorithm>
#include <array>

namespace widelimit {

namespace {

/// Votes and sums of decisions per class at the points of a strip.
class VoteCounts {
 public:
  explicit VoteCounts(Index classes) : classes_(classes), numbers_(usize(2 * classes * host::strip_points)) {}

  void clear() { std::fill(numbers_.begin(), numbers_.end(), 0.0); }
  [[nodiscard]] host::Tally of(Index c) {
    double* votes = numbers_.data() + 2 * c * host::strip_points;
    return {votes, votes + host::strip_points};
  }
  /// Selects the class at all points, by the rule of `vote`.
  void find_winners(Scheme scheme, Index* winners) const {
    host::find_winners(numbers_.data(), classes_, scheme != Scheme::one_vs_one_first, winners);
  }

 private:
  Index classes_;
  std::vector<double> numbers_;
};

/// For each λ, whether some output has a different solution than at the previous λ.
std::vector<bool> changes_of(const SparseMachines& machines) {
  std::vector<bool> changes(machines.lambdas());
  for (std::size_t p = 0; p < machines.outputs(); ++p) {
    for (const SparseMachines::Stage& stage : machines.stages(p)) changes[stage.from] = true;
  }
  return changes;
}

/// Counts the decisions of all pairs at the points of a strip, for each λ at which a solution changes.
void count_pairs(const SparseMachines& machines, const std::vector<bool>& changes, Index classes, const double* strip,
                 std::vector<VoteCounts>& vote_counts) {
  std::array<double, usize(host::strip_points)> decisions;
  for (VoteCounts& counts : vote_counts) counts.clear();
  std::size_t p = 0;
  for (Index c = 0; c < classes; ++c) {
    for (Index d = c + 1; d < classes; ++d, ++p) {
      const std::span<const SparseMachines::Stage> stages = machines.stages(p);
      for (std::size_t s = 0; s < stages.size(); ++s) {
        host::weigh_strip(machines.coefficients(p, stages[s]), strip, decisions.data());
        const std::size_t end = s + 1 < stages.size() ? stages[s + 1].from : changes.size();
        for (std::size_t l = stages[s].from; l < end; ++l) {
          if (changes[l])
            host::count_pair(decisions.data(), stages[s].bias, vote_counts[l].of(c), vote_counts[l].of(d));
        }
      }
    }
  }
}

}  // namespace

std::vector<std::vector<std::vector<Index>>> vote(const SparseMachines& machines, Index classes,
                                                  const EngineMatrix& test_by_train, std::span<const Scheme> schemes,
                                                  const Engine& engine) {
  if (test_by_train.cols() != machines.samples()) {
    fail(Code::input, "K(test, train) has {} columns, but the machines have {} training samples", test_by_train.cols(),
         machines.samples());
  }
  if (const Index pairs = output_count(Scheme::one_vs_one, classes); pairs != static_cast<Index>(machines.outputs())) {
    fail(Code::input, "{} classes have {} pairs, not {}", classes, pairs, machines.outputs());
  }
  const Index points = test_by_train.rows();
  const std::vector<std::vector<Index>> of_lambda(schemes.size(), std::vector<Index>(usize(points)));
  std::vector<std::vector<std::vector<Index>>> predicted(machines.lambdas(), of_lambda);
  const auto host = engine.algebra().host_view(test_by_train);
  if (!host) {
    const std::vector<Fit> fits = machines.fits(engine);
    for (std::size_t l = 0; l < fits.size(); ++l) {
      const Matrix<double> g = decision(fits[l], test_by_train, engine);
      for (std::size_t r = 0; r < schemes.size(); ++r) predicted[l][r] = vote(g.view(), classes, schemes[r]);
    }
    return predicted;
  }
  const std::vector<bool> changes = changes_of(machines);
  engine.for_each((points + host::strip_points - 1) / host::strip_points, [&](Index at) {
    const Index begin = at * host::strip_points;
    const Index height = std::min(host::strip_points, points - begin);
    const auto block = [&](const auto& k) { return host::strip_of(k.block(begin, 0, height, k.cols)); };
    const std::vector<double> strip = std::visit(block, *host);
    std::vector<VoteCounts> vote_counts(machines.lambdas(), VoteCounts(classes));
    count_pairs(machines, changes, classes, strip.data(), vote_counts);
    std::array<Index, usize(host::strip_points)> winners;
    for (std::size_t r = 0; r < schemes.size(); ++r) {
      for (std::size_t l = 0; l < predicted.size(); ++l) {
        if (changes[l]) vote_counts[l].find_winners(schemes[r], winners.data());
        std::copy_n(winners.begin(), height, predicted[l][r].begin() + begin);
      }
    }
  });
  return predicted;
}

}  // namespace widelimit
