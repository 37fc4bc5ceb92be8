#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/types.hpp"
#include "widelimit/certificate/ball.hpp"

#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace widelimit {

class ConeKernel;
class Engine;
struct PointGeometry;
struct CertifyOptions;

/// f(x) = Σᵢ βᵢ Θ(x, xᵢ) + b around one of the points, with β = α₊ − α₋ and b = b₊ − b₋ of two outputs, either of
/// which may be none (−1): what must stay positive.
struct Functional {
  Index point = 0;
  Index plus = -1;
  Index minus = -1;
};

/// What the two arguments of kernel entries were divided by, as exponents of 2: Θ(x, xᵢ) is 2^(point + sampleᵢ) times
/// the entry of the scaled problem.                                                        [binary_scale.hpp]
struct EntryExponents {
  static constexpr int no_entry = std::numeric_limits<int>::min();  ///< of a sample whose entries are all 0
  int point = 0;
  std::vector<int> sample;  ///< one for each sample of the support; empty: all 0
};

/// β and b of a functional, whatever the point: f = 2^exponent·(Σᵢ betaᵢ·Θᵢ + bias) with entries Θᵢ of the scaled
/// problem. The largest modulus of beta is between 1 and 2, unless all are 0.
struct FunctionalWeights {
  std::vector<double> beta;  ///< one for each sample of the support; what underflows is off by 2⁻¹⁰⁷⁵ at most
  double bias = 0;           ///< rounded down where it underflows or overflows
  int exponent = 0;
};
[[nodiscard]] FunctionalWeights functional_weights(MatrixView<const double> alpha, std::span<const double> bias,
                                                   const Functional& functional, const EntryExponents& exponents = {});

/// Everything that bounds share: the machine as sums over its support, and the points, all in float64. Rows are scaled
/// by powers of two to the middle of the range of numbers.
struct CertificateProblem {
  const ConeKernel& kernel;
  MatrixView<const double> support;  ///< rows xᵢ
  MatrixView<const double> alpha;    ///< support × outputs
  std::span<const double> bias;      ///< one per output
  MatrixView<const double> points;   ///< rows
  std::span<const Functional> functionals;
  const CertifyOptions& options;  ///< norm, box
  const Engine& engine;
  const PointGeometry* geometry = nullptr;  ///< of support and points, where it is computed already
  EntryExponents exponents = {};            ///< what rows were divided by

  /// Of entries N·‖xᵢ‖·κ times the kernel's scale, but for its exponent.
  [[nodiscard]] FunctionalWeights weights(const Functional& functional) const;
};

struct BallQuery {
  Index functional = 0;
  double radius = 0;
};

/// Runs of queries that ask for the same ball, and the balls.
struct BallGroups {
  std::vector<Ball> balls;
  std::vector<Index> first;  ///< query where each begins, and the number of queries
};
[[nodiscard]] BallGroups group_balls(std::span<const Functional> functionals, std::span<const BallQuery> queries);

/// A method: proved lower bounds of f on balls. Many at once, so that products with the support are matrix products.
class LowerBound {
 public:
  virtual ~LowerBound() = default;
  /// A number below f(x) for every x in the ball of each query, all rounding counted in; −∞ where nothing can be said.
  /// A number too small or too large for float64 keeps its sign.
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
