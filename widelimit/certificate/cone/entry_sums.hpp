#pragma once

#include "widelimit/certificate/by_outputs.hpp"
#include "widelimit/certificate/interval/ranges.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/cones.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace widelimit {

/// β = α₊ − α₋ of a functional, zeros left out.
struct SignedWeights {
  std::vector<std::int32_t> which;  ///< samples; empty where all have a weight
  std::vector<double> weight;       ///< β·‖xᵢ‖
  double total = 0;                 ///< Σ|weight|, rounded up
  double bias = 0;                  ///< b₊ − b₋
  int exponent = 0;                 ///< f is 2^exponent times what these give
};

/// Σᵢ weightᵢ·(bound of Hᵢ) on the ball of a query.
struct EntrySum {
  double sum = 0;
  double norm = 0;  ///< ‖x‖ is not larger on the ball
};

/// Bounds of kernel entries, summed over the support: what grows with support × balls. Each entry may be off by
/// norm·(value_error + 16·2⁻⁵³·κ(1)).
class EntrySums {
 public:
  virtual ~EntrySums() = default;
  /// One for each query; `groups` are those of the queries.
  [[nodiscard]] virtual std::vector<EntrySum> evaluate(const BallGroups& groups,
                                                       std::span<const BallQuery> queries) const = 0;
  /// Additions that a term passes at most in a sum of so many.
  [[nodiscard]] virtual double additions(Index terms) const = 0;
};

/// Borrow all. By strips, on the threads of the engine.
[[nodiscard]] std::unique_ptr<EntrySums> make_strip_sums(const CertificateProblem& problem, const Ranges& ranges,
                                                         ConeRule rule, const ByOutputs<SignedWeights>& weights);
/// In the memory of an engine that holds support and points: all balls of an evaluation at once.
[[nodiscard]] std::unique_ptr<EntrySums> make_held_sums(const CertificateProblem& problem, const Ranges& ranges,
                                                        ConeRule rule, const ByOutputs<SignedWeights>& weights);

}  // namespace widelimit
