#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/convex/expansion_bound.hpp"
#include "widelimit/certificate/lower_bound.hpp"

namespace widelimit {

namespace {

/// Expander of a chain without biases.
class ConeExpander final : public Expander {
 public:
  explicit ConeExpander(const CertificateProblem& problem)
      : problem_(problem),
        ranges_(problem),
        directions_(ranges_.geometry().support),
        weights_(problem.functionals, [this](const Functional& functional) { return weights_of(functional); }) {}

  [[nodiscard]] std::unique_ptr<BallExpander> around(const Ball& ball) const override {
    return std::make_unique<Around>(*this, ball);
  }
  [[nodiscard]] ConvexParts parts() const override { return {ranges_, directions_, problem_.options.norm == Norm::l2}; }

 private:
  class Around final : public BallExpander {
   public:
    Around(const ConeExpander& machine, const Ball& ball) : machine_(machine), ball_(ball) {}
    [[nodiscard]] Expansion expand(const Functional& functional) const override {
      return widelimit::expand(machine_.problem_.kernel, machine_.ranges_, machine_.directions_,
                               machine_.problem_.points.row(ball_.point), ball_, machine_.parts().euclidean,
                               machine_.weights_.of(functional));
    }

   private:
    const ConeExpander& machine_;
    Ball ball_;
  };

  [[nodiscard]] FunctionalWeights weights_of(const Functional& functional) const {
    FunctionalWeights weights = problem_.weights(functional);
    for (std::size_t i = 0; i < weights.beta.size(); ++i) {
      weights.beta[i] *= ranges_.norms()[i] * problem_.kernel.scale();
    }
    return weights;
  }

  const CertificateProblem& problem_;
  Ranges ranges_;
  ReducedDirections directions_;
  ByOutputs<FunctionalWeights> weights_;  ///< with beta = β·scale·‖xᵢ‖
};

}  // namespace

std::unique_ptr<LowerBound> make_convex_bound(const CertificateProblem& problem) {
  return make_expansion_bound(std::make_unique<ConeExpander>(problem), problem.functionals, problem.engine);
}

}  // namespace widelimit
