#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/by_outputs.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/convex_form.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace widelimit {

namespace {

/// Expansions to second order, minimised over the ball.                     [docs/theory/certificates.md#convex]
class ConvexBound final : public LowerBound {
 public:
  explicit ConvexBound(const CertificateProblem& problem)
      : problem_(problem),
        ranges_(problem),
        directions_(ranges_.geometry().support),
        weights_(problem.functionals, [this](const Functional& functional) { return weights_of(functional); }) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    std::vector<double> bounds(queries.size());
    parallel_for(std::ssize(queries), team_size(problem_.options.threads), [&](Index q) {
      const BallQuery& query = queries[at(q)];
      bounds[at(q)] = form_of(query).bound(parts(), query.radius);
    });
    return bounds;
  }
  [[nodiscard]] std::unique_ptr<LowerBound> within(const Ball& largest) const override;
  [[nodiscard]] bool nests() const override { return true; }

  [[nodiscard]] ConvexForm form_of(const BallQuery& query) const {
    const Functional& functional = problem_.functionals[at(query.functional)];
    return {parts(), {.point = functional.point, .radius = query.radius}, weights_.of(functional)};
  }
  [[nodiscard]] ConvexParts parts() const {
    return {problem_.kernel, ranges_, directions_, problem_.points, problem_.options.norm == Norm::l2};
  }

 private:
  [[nodiscard]] FunctionalWeights weights_of(const Functional& functional) const {
    FunctionalWeights weights = functional_weights(problem_.alpha, problem_.bias, functional);
    for (std::size_t i = 0; i < weights.beta.size(); ++i) {
      weights.beta[i] *= ranges_.norms()[i] * problem_.kernel.scale();
    }
    return weights;
  }

  const CertificateProblem& problem_;
  Ranges ranges_;
  ReducedDirections directions_;
  ByOutputs<FunctionalWeights> weights_;  ///< β·scale·‖xᵢ‖ for β
};

/// Forms of the largest ball, each made when its functional is asked for.
class ConvexBoundWithin final : public LowerBound {
 public:
  ConvexBoundWithin(const ConvexBound& whole, double largest) : whole_(whole), largest_(largest) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    std::vector<double> bounds;
    for (const auto& [functional, radius] : queries) {
      auto form = forms_.find(functional);
      if (form == forms_.end()) form = forms_.emplace(functional, whole_.form_of({functional, largest_})).first;
      bounds.push_back(form->second.bound(whole_.parts(), radius));
    }
    return bounds;
  }

 private:
  const ConvexBound& whole_;
  double largest_;
  mutable std::map<Index, ConvexForm> forms_;
};

std::unique_ptr<LowerBound> ConvexBound::within(const Ball& largest) const {
  return std::make_unique<ConvexBoundWithin>(*this, largest.radius);
}

}  // namespace

std::unique_ptr<LowerBound> make_convex_bound(const CertificateProblem& problem) {
  return std::make_unique<ConvexBound>(problem);
}

}  // namespace widelimit
