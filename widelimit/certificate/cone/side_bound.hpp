#pragma once

#include "widelimit/certificate/by_outputs.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/kernel_sides.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <cstdint>
#include <memory>
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

/// Runs of queries that ask for the same ball, and the balls.
struct BallGroups {
  std::vector<Ball> balls;
  std::vector<Index> first;  ///< query where each begins, and the number of queries
};
[[nodiscard]] BallGroups group_balls(std::span<const Functional> functionals, std::span<const BallQuery> queries);

/// A ball and the ranges of all samples over it; null where they are widened strip by strip, as they are needed.
struct BallRanges {
  Ball ball;
  NormRange norm;
  const double* low = nullptr;
  const double* high = nullptr;
};

/// f ≥ Σ_{β>0} β·(lower bound of the entry) + Σ_{β<0} β·(upper bound) + b: a bound of each kernel entry by itself.
class SideBound final : public LowerBound {
 public:
  SideBound(const CertificateProblem& problem, Ranges::Of of, std::unique_ptr<KernelSides> sides);
  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override;

 private:
  void evaluate_balls(const BallGroups& groups, std::span<const BallQuery> queries, Index begin, Index end,
                      double* bounds) const;
  [[nodiscard]] double bound(const BallRanges& ranges, const SignedWeights& weights, SideScratch& scratch) const;

  const CertificateProblem& problem_;
  Ranges ranges_;
  std::unique_ptr<KernelSides> sides_;
  ByOutputs<SignedWeights> weights_;
  bool whole_rows_;  ///< whether ranges of all samples are found first: by a box's products, or to be picked from
};

}  // namespace widelimit
