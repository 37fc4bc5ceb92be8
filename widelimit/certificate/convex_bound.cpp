#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/convex_form.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace widelimit {

namespace {

/// Expansions to second order, minimised over the ball.                     [docs/theory/certificates.md#convex]
class ConvexBound final : public LowerBound {
 public:
  explicit ConvexBound(const CertificateProblem& problem)
      : problem_(problem), ranges_(problem), directions_(ranges_.geometry().support) {
    for (const Functional& functional : problem.functionals) {
      const std::pair outputs(functional.plus, functional.minus);
      if (weights_.count(outputs) == 0) weights_.emplace(outputs, weights_of(functional));
    }
  }

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    std::vector<double> bounds(queries.size());
    parallel_for(std::ssize(queries), team_size(problem_.options.threads), [&](Index q) {
      const BallQuery& query = queries[at(q)];
      bounds[at(q)] = form_of(query).bound(parts(), query.radius);
    });
    return bounds;
  }
  [[nodiscard]] std::unique_ptr<LowerBound> around_one_point() const override;

  [[nodiscard]] ConvexForm form_of(const BallQuery& query) const {
    const Functional& functional = problem_.functionals[at(query.functional)];
    return {
        parts(), {.point = functional.point, .radius = query.radius}, weights_.at({functional.plus, functional.minus})};
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
  std::map<std::pair<Index, Index>, FunctionalWeights> weights_;  ///< by outputs, β·scale·‖xᵢ‖ for β
};

/// Forms are made at radii 2^(k/cells), and each bounds the radii up to the one before: a hundredth more than asked for
/// moves the ends of curvatures so little that radii lose less than a thousandth, and a search of twenty steps within a
/// cell needs one form.
class ConvexBoundAround final : public LowerBound {
 public:
  explicit ConvexBoundAround(const ConvexBound& whole) : whole_(whole) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    std::vector<double> bounds;
    for (const BallQuery& query : queries) bounds.push_back(bound(query));
    return bounds;
  }

 private:
  static double cell_end(double radius) {
    constexpr double cells = 64;
    return std::max(radius, std::exp2(std::ceil(std::log2(radius) * cells) / cells));
  }

  /// The form of a larger ball is asked first: where it says yes, that of the radius' own cell would.
  [[nodiscard]] double bound(const BallQuery& query) const {
    const double end = cell_end(query.radius);
    const auto known = forms_.find(query.functional);
    if (known != forms_.end() && known->second.radius() >= query.radius) {
      const double answer = known->second.bound(whole_.parts(), query.radius);
      if (answer > 0 || known->second.radius() == end) return answer;
    }
    if (known != forms_.end()) forms_.erase(known);
    const auto made = forms_.emplace(query.functional, whole_.form_of({query.functional, end})).first;
    return made->second.bound(whole_.parts(), query.radius);
  }

  const ConvexBound& whole_;
  mutable std::map<Index, ConvexForm> forms_;  ///< the last of each functional
};

std::unique_ptr<LowerBound> ConvexBound::around_one_point() const { return std::make_unique<ConvexBoundAround>(*this); }

}  // namespace

std::unique_ptr<LowerBound> make_convex_bound(const CertificateProblem& problem) {
  return std::make_unique<ConvexBound>(problem);
}

}  // namespace widelimit
