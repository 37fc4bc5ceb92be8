#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/ball_minimum.hpp"
#include "widelimit/certificate/box_minimum.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/expansion.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/certificate/quadratic_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace widelimit {

namespace {

/// Features up to which the matrix of the squares is worth its memory, n² doubles a thread.
constexpr Index most_features = 4096;

/// Expansions to second order, minimised over the ball.                     [docs/theory/certificates.md#convex]
class ConvexBound final : public LowerBound {
 public:
  explicit ConvexBound(const CertificateProblem& problem)
      : problem_(problem), ranges_(problem), euclidean_(problem.options.norm == Norm::l2) {
    for (const Functional& functional : problem.functionals) {
      const std::pair outputs(functional.plus, functional.minus);
      if (weights_.count(outputs) == 0) weights_.emplace(outputs, weights_of(functional));
    }
  }

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    std::vector<double> bounds(queries.size());
    parallel_for(std::ssize(queries), team_size(problem_.options.threads),
                 [&](Index q) { bounds[at(q)] = bound(queries[at(q)]); });
    return bounds;
  }

 private:
  [[nodiscard]] FunctionalWeights weights_of(const Functional& functional) const {
    FunctionalWeights weights = functional_weights(problem_.alpha, problem_.bias, functional);
    for (std::size_t i = 0; i < weights.beta.size(); ++i) {
      weights.beta[i] *= ranges_.norms()[i] * problem_.kernel.scale();
    }
    return weights;
  }

  /// The bound of first order where it is good enough: far below the radius that is searched.
  [[nodiscard]] double bound(const BallQuery& query) const {
    const Functional& functional = problem_.functionals[at(query.functional)];
    const Ball ball{.point = functional.point, .radius = query.radius};
    const Expansion expansion = expand(problem_.kernel, ranges_, problem_.points.row(ball.point), ball, euclidean_,
                                       weights_.at({functional.plus, functional.minus}));
    const double first = expansion.first_order(euclidean_, query.radius);
    if (!expansion.bounded || first > 0.8 * expansion.constant || problem_.points.cols > most_features) return first;
    return std::max(first, second_order(expansion, ball));
  }

  [[nodiscard]] double second_order(const Expansion& expansion, const Ball& ball) const {
    const std::size_t size = expansion.half.size();
    // Of a ball: ‖(z/δ)cos φ‖² + ((ν/ν_max)sin φ)² ≤ 1.
    constexpr double sine = 0.125, cosine_below = 0.99215;
    std::vector<double> scale(size + 1), g(size + 1);
    for (std::size_t j = 0; j < size; ++j) {
      scale[j] = euclidean_ ? ball.radius * (1 + 0x1p-50) / cosine_below : expansion.half[j];
      g[j] = expansion.gradient[j] * scale[j];
    }
    scale[size] = euclidean_ ? expansion.nu / sine : expansion.nu;
    constexpr double part = 1e-3;
    QuadraticForm form =
        quadratic_form(expansion, ranges_.directions(), scale, euclidean_, part * std::max(0.0, expansion.constant));
    // rise·ν: at least 0, or by ν ≤ ‖z‖²/(2‖c‖) a multiple of squares.
    double slack = 0;
    if (expansion.rise >= 0) {
      g[size] = euclidean_ ? 0 : expansion.rise * scale[size];
    } else {
      for (std::size_t j = 0; j < size; ++j) {
        const double square = expansion.rise * scale[j] * scale[j] / (2 * expansion.centre_norm);
        form.b(static_cast<Index>(j), static_cast<Index>(j)) += square;
        slack -= 0x1p-44 * square;
      }
    }
    double moduli = 0;
    for (const double slope : g) moduli += std::abs(slope);
    const double least = euclidean_ ? ball_minimum(g, form.b.view()) : box_minimum(g, form.b.view());
    const double error = expansion.error + form.error + slack + 0x1p-50 * (std::abs(expansion.constant) + moduli);
    const double result = expansion.constant + least - error;
    return std::isfinite(result) ? result : -std::numeric_limits<double>::infinity();
  }

  const CertificateProblem& problem_;
  Ranges ranges_;
  bool euclidean_;
  std::map<std::pair<Index, Index>, FunctionalWeights> weights_;  ///< by outputs, β·scale·‖xᵢ‖ for β
};

}  // namespace

std::unique_ptr<LowerBound> make_convex_bound(const CertificateProblem& problem) {
  return std::make_unique<ConvexBound>(problem);
}

}  // namespace widelimit
