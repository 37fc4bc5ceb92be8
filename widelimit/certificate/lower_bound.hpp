#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/types.hpp"
#include "widelimit/certificate/ball.hpp"

#include <memory>
#include <span>
#include <vector>

namespace widelimit {

class ConeKernel;
struct PointGeometry;
struct CertifyOptions;

/// f(x) = Σᵢ βᵢ Θ(x, xᵢ) + b around one of the points, with β = α₊ − α₋ and b = b₊ − b₋ of two outputs, either of
/// which may be none (−1): what must stay positive.
struct Functional {
  Index point = 0;
  Index plus = -1;
  Index minus = -1;
};

/// β and b of a functional, whatever the point.
struct FunctionalWeights {
  std::vector<double> beta;  ///< one for each sample of the support
  double bias = 0;
};
[[nodiscard]] FunctionalWeights functional_weights(MatrixView<const double> alpha, std::span<const double> bias,
                                                   const Functional& functional);

/// Everything that bounds share: the machine as sums over its support, and the points, all in float64.
struct CertificateProblem {
  const ConeKernel& kernel;
  MatrixView<const double> support;  ///< rows xᵢ
  MatrixView<const double> alpha;    ///< support × outputs
  std::span<const double> bias;      ///< one per output
  MatrixView<const double> points;   ///< rows, scaled
  std::span<const Functional> functionals;
  const CertifyOptions& options;            ///< norm, box, threads
  const PointGeometry* geometry = nullptr;  ///< of support and points, where somebody has it
};

struct BallQuery {
  Index functional = 0;
  double radius = 0;
};

/// A method: proved lower bounds of f on balls. Many at once, so that products with the support are matrix products.
class LowerBound {
 public:
  virtual ~LowerBound() = default;
  /// A number below f(x) for every x in the ball of each query, all rounding counted in; −∞ where nothing can be said.
  [[nodiscard]] virtual std::vector<double> evaluate(std::span<const BallQuery> queries) const = 0;
  /// The same of balls that a ball about one point holds, made for many questions: most of the work is done once, for
  /// the largest, and bounds are lower the smaller the ball that is asked for. An object for one thread, which borrows
  /// this one. Only where nests() is true.
  [[nodiscard]] virtual std::unique_ptr<LowerBound> within(const Ball& largest) const;
  [[nodiscard]] virtual bool nests() const { return false; }
};

[[nodiscard]] std::unique_ptr<LowerBound> make_paper_bound(const CertificateProblem& problem);
[[nodiscard]] std::unique_ptr<LowerBound> make_interval_bound(const CertificateProblem& problem);
[[nodiscard]] std::unique_ptr<LowerBound> make_convex_bound(const CertificateProblem& problem);

}  // namespace widelimit
