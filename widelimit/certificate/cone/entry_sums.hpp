#pragma once

#include "widelimit/certificate/interval/ranges.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/cones.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace widelimit {

/// β = α₊ − α₋ of a functional without its zeros.
struct SignedWeights {
  std::vector<std::int32_t> which;  ///< sample indices; empty if no weight is 0
  std::vector<double> weight;       ///< β·‖xᵢ‖
  double total = 0;                 ///< Σ|weight|, rounded up
  double bias = 0;                  ///< b₊ − b₋
  int exponent = 0;                 ///< f is 2^exponent times the value given by these weights
};

/// Σᵢ weightᵢ·(bound of Hᵢ) on one ball.
struct EntrySum {
  double sum = 0;
  double norm = 0;  ///< upper bound of ‖x‖ on the ball
};

/// Sums of kernel entry bounds over the support; the part whose cost is O(support · balls). The error of each entry is
/// at most norm·(value_error + 16·2⁻⁵³·κ(1)).
class EntrySums {
 public:
  virtual ~EntrySums() = default;
  /// Returns one sum per query; `groups` are the ball groups of the queries.
  [[nodiscard]] virtual std::vector<EntrySum> evaluate(const BallGroups& groups,
                                                       std::span<const BallQuery> queries) const = 0;
  /// Returns the maximum number of additions that a term passes through in a sum of this many terms.
  [[nodiscard]] virtual double additions(Index terms) const = 0;
};

/// Computes the sums in strips on the threads of the engine. Borrows all arguments.
[[nodiscard]] std::unique_ptr<EntrySums> make_strip_sums(const CertificateProblem& problem, const Ranges& ranges,
                                                         ConeRule rule, const ByOutputs<SignedWeights>& weights);
/// Computes all balls of an evaluation at once, in the memory of an engine that holds support and points.
[[nodiscard]] std::unique_ptr<EntrySums> make_held_sums(const CertificateProblem& problem, const Ranges& ranges,
                                                        ConeRule rule, const ByOutputs<SignedWeights>& weights);

}  // namespace widelimit
