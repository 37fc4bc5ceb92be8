#include "widelimit/certificate/convex_bound.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/by_outputs.hpp"
#include "widelimit/certificate/certify.hpp"

#include <map>
#include <utility>

namespace widelimit {

namespace {

class ExpansionBound final : public LowerBound {
 public:
  ExpansionBound(std::unique_ptr<Expander> expander, std::span<const Functional> functionals, int threads)
      : expander_(std::move(expander)), functionals_(functionals), threads_(threads) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    std::vector<double> bounds(queries.size());
    parallel_for(std::ssize(queries), team_size(threads_), [&](Index q) {
      const BallQuery& query = queries[at(q)];
      bounds[at(q)] = form_of(query).bound(expander_->parts(), query.radius);
    });
    return bounds;
  }
  [[nodiscard]] std::unique_ptr<LowerBound> within(const Ball& largest) const override;
  [[nodiscard]] bool nests() const override { return true; }

  [[nodiscard]] ConvexForm form_of(const BallQuery& query) const {
    const Functional& functional = functionals_[at(query.functional)];
    const Ball ball{.point = functional.point, .radius = query.radius};
    return {expander_->parts(), ball, expander_->expand(functional, ball)};
  }
  [[nodiscard]] ConvexParts parts() const { return expander_->parts(); }

 private:
  std::unique_ptr<Expander> expander_;
  std::span<const Functional> functionals_;
  int threads_;
};

/// Forms of the largest ball, each made when its functional is asked for.
class ExpansionBoundWithin final : public LowerBound {
 public:
  ExpansionBoundWithin(const ExpansionBound& whole, double largest) : whole_(whole), largest_(largest) {}

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
  const ExpansionBound& whole_;
  double largest_;
  mutable std::map<Index, ConvexForm> forms_;
};

std::unique_ptr<LowerBound> ExpansionBound::within(const Ball& largest) const {
  return std::make_unique<ExpansionBoundWithin>(*this, largest.radius);
}

/// Of a chain without biases.
class ConeExpander final : public Expander {
 public:
  explicit ConeExpander(const CertificateProblem& problem)
      : problem_(problem),
        ranges_(problem),
        directions_(ranges_.geometry().support),
        weights_(problem.functionals, [this](const Functional& functional) { return weights_of(functional); }) {}

  [[nodiscard]] Expansion expand(const Functional& functional, const Ball& ball) const override {
    return widelimit::expand(problem_.kernel, ranges_, directions_, problem_.points.row(ball.point), ball,
                             parts().euclidean, weights_.of(functional));
  }
  [[nodiscard]] ConvexParts parts() const override { return {ranges_, directions_, problem_.options.norm == Norm::l2}; }

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

}  // namespace

std::unique_ptr<LowerBound> make_expansion_bound(std::unique_ptr<Expander> expander,
                                                 std::span<const Functional> functionals, int threads) {
  return std::make_unique<ExpansionBound>(std::move(expander), functionals, threads);
}

std::unique_ptr<LowerBound> make_convex_bound(const CertificateProblem& problem) {
  return make_expansion_bound(std::make_unique<ConeExpander>(problem), problem.functionals, problem.options.threads);
}

}  // namespace widelimit
