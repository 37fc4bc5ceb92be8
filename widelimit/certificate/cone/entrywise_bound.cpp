#include "widelimit/certificate/binary_scale.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/entry_sums.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/enclosure/interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace widelimit {

namespace {

/// Returns the non-zero weights of a functional, multiplied by the norms of the samples.
SignedWeights signed_weights(const CertificateProblem& problem, std::span<const double> norms,
                             const Functional& functional) {
  const FunctionalWeights weights = problem.weights(functional);
  SignedWeights result{.bias = weights.bias, .exponent = weights.exponent};
  for (Index i = 0; i < problem.alpha.rows; ++i) {
    const double beta = weights.beta[usize(i)];
    if (beta == 0) continue;
    result.which.push_back(static_cast<std::int32_t>(i));
    result.weight.push_back(beta * norms[usize(i)]);
    result.total = above(result.total + std::abs(result.weight.back()));
  }
  if (std::ssize(result.which) == problem.alpha.rows) result.which.clear();
  return result;
}

/// f ≥ Σ_{β>0} β·(lower bound of the entry) + Σ_{β<0} β·(upper bound) + b, with separate bounds of kernel entries.
class EntrywiseBound final : public LowerBound {
 public:
  EntrywiseBound(const CertificateProblem& problem, Ranges::Of of, ConeRule rule)
      : problem_(problem),
        ranges_(problem, of),
        weights_(problem.functionals,
                 [&](const Functional& functional) { return signed_weights(problem, ranges_.norms(), functional); }),
        sums_(ranges_.geometry().support.held ? make_held_sums(problem, ranges_, rule, weights_)
                                              : make_strip_sums(problem, ranges_, rule, weights_)) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    const std::vector<EntrySum> sums = sums_->evaluate(group_balls(problem_.functionals, queries), queries);
    std::vector<double> bounds;
    for (std::size_t q = 0; q < queries.size(); ++q) {
      bounds.push_back(bound(sums[q], weights_.of(problem_.functionals[usize(queries[q].functional)])));
    }
    return bounds;
  }

 private:
  [[nodiscard]] double bound(const EntrySum& entries, const SignedWeights& weights) const;

  const CertificateProblem& problem_;
  Ranges ranges_;
  ByOutputs<SignedWeights> weights_;
  std::unique_ptr<EntrySums> sums_;
};

/// Rounding errors [docs/theory/certificates-proof.md]: entries norm·(error of κ + 16 units of κ(1)), weights the error
/// of a norm plus three units, sums one unit per addition that a term passes through.
double EntrywiseBound::bound(const EntrySum& entries, const SignedWeights& weights) const {
  const ConeKernel& kernel = problem_.kernel;
  const double additions = sums_->additions(std::ssize(weights.weight));
  const double relative = (additions + 32) * unit_roundoff + ranges_.norm_error() + kernel.scale_error();
  const double error = weights.total * entries.norm * (kernel.value_error() + relative * kernel.largest());
  const double value = kernel.scale() * (entries.sum - 1.001 * error);
  const double result = value + weights.bias - 4 * unit_roundoff * (std::abs(value) + std::abs(weights.bias));
  return std::isfinite(result) ? unscaled_bound(result, weights.exponent) : -std::numeric_limits<double>::infinity();
}

}  // namespace

std::unique_ptr<LowerBound> make_paper_bound(const CertificateProblem& problem) {
  return std::make_unique<EntrywiseBound>(problem, Ranges::Of::published, ConeRule::paper);
}

std::unique_ptr<LowerBound> make_interval_bound(const CertificateProblem& problem) {
  return std::make_unique<EntrywiseBound>(problem, Ranges::Of::ball, ConeRule::interval);
}

}  // namespace widelimit
