#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/types.hpp"
#include "widelimit/certificate/ball.hpp"

#include <limits>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace widelimit {

class ConeKernel;
class Engine;
struct PointGeometry;
struct CertifyOptions;

/// A function that must stay positive around one of the points: f(x) = Σᵢ βᵢ Θ(x, xᵢ) + b with β = α₊ − α₋ and
/// b = b₊ − b₋ of two outputs; an index of −1 omits that output.
struct Functional {
  Index point = 0;
  Index plus = -1;
  Index minus = -1;
};

/// One T per pair of outputs that occurs in the functionals, independent of their points.
template <typename T>
class ByOutputs {
 public:
  template <typename Make>
  ByOutputs(std::span<const Functional> functionals, const Make& make) {
    for (const Functional& functional : functionals) {
      if (!parts_.contains(outputs(functional))) parts_.emplace(outputs(functional), make(functional));
    }
  }
  [[nodiscard]] const T& of(const Functional& functional) const { return parts_.at(outputs(functional)); }

 private:
  using Outputs = std::pair<Index, Index>;
  static Outputs outputs(const Functional& functional) { return {functional.plus, functional.minus}; }

  std::map<Outputs, T> parts_;
};

/// Scale exponents of the two arguments of kernel entries: Θ(x, xᵢ) is 2^(point + sampleᵢ) times the entry of the
/// scaled problem.                                                                                [binary_scale.hpp]
struct EntryExponents {
  static constexpr int no_entry = std::numeric_limits<int>::min();  ///< marks a sample whose entries are all 0
  int point = 0;
  std::vector<int> sample;  ///< one per support sample; empty: all 0
};

/// β and b of a functional, independent of the point: f = 2^exponent·(Σᵢ betaᵢ·Θᵢ + bias) with entries Θᵢ of the scaled
/// problem. The largest |beta| is in [1, 2], unless all are 0.
struct FunctionalWeights {
  std::vector<double> beta;  ///< one per support sample; underflow error at most 2⁻¹⁰⁷⁵
  double bias = 0;           ///< rounded down on underflow or overflow
  int exponent = 0;
};
[[nodiscard]] FunctionalWeights functional_weights(MatrixView<const double> alpha, std::span<const double> bias,
                                                   const Functional& functional, const EntryExponents& exponents = {});

/// The input of all bounds: the machine as sums over its support, and the points, in float64. Rows are scaled by powers
/// of two to the middle of the exponent range.
struct CertificateProblem {
  const ConeKernel& kernel;
  MatrixView<const double> support;  ///< rows xᵢ
  MatrixView<const double> alpha;    ///< support × outputs
  std::span<const double> bias;      ///< one per output
  MatrixView<const double> points;   ///< rows
  std::span<const Functional> functionals;
  const CertifyOptions& options;  ///< norm, box
  const Engine& engine;
  const PointGeometry* geometry = nullptr;  ///< precomputed geometry of support and points, if any
  EntryExponents exponents = {};            ///< scale exponents of the rows

  /// Returns weights for entries N·‖xᵢ‖·κ times the kernel's scale, with the kernel's exponent in the result's
  /// exponent.
  [[nodiscard]] FunctionalWeights weights(const Functional& functional) const;
};

struct BallQuery {
  Index functional = 0;
  double radius = 0;
};

/// Runs of consecutive queries on the same ball, and the balls.
struct BallGroups {
  std::vector<Ball> balls;
  std::vector<Index> first;  ///< first query of each run, followed by the number of queries
};
[[nodiscard]] BallGroups group_balls(std::span<const Functional> functionals, std::span<const BallQuery> queries);

/// A method that computes proved lower bounds of f on balls, in batches, so that products with the support are matrix
/// products.
class LowerBound {
 public:
  virtual ~LowerBound() = default;
  /// Returns a lower bound of f(x) over the ball of each query, including all rounding; −∞ if there is none. The sign
  /// is preserved on overflow and underflow.
  [[nodiscard]] virtual std::vector<double> evaluate(std::span<const BallQuery> queries) const = 0;
  /// Returns a bound for balls contained in `largest`, for many queries: most work is done once, for the largest ball,
  /// and bounds of smaller balls are less tight. The result is not thread-safe and borrows this object. Requires
  /// nests().
  [[nodiscard]] virtual std::unique_ptr<LowerBound> within(const Ball& largest) const;
  [[nodiscard]] virtual bool nests() const { return false; }
};

[[nodiscard]] std::unique_ptr<LowerBound> make_paper_bound(const CertificateProblem& problem);
[[nodiscard]] std::unique_ptr<LowerBound> make_interval_bound(const CertificateProblem& problem);
[[nodiscard]] std::unique_ptr<LowerBound> make_convex_bound(const CertificateProblem& problem);

}  // namespace widelimit
