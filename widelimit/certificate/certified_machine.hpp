#pragma once

#include "widelimit/certificate/attack/attack.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/chain/chain.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/certificate/convex/gradient.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/certificate/point_block.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/machine/model.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace widelimit {

/// The kernel of a model in the representation that certificates use.
struct CertifiedKernel {
  Chain chain;
  std::optional<ConeKernel> cone;  ///< if the chain has one that is proved convex
  std::string chain_reason;        ///< otherwise the reason
  Chain without_last_bias;         ///< the chain without the bias of the last layer,
  double last_bias = 0;            ///< which adds last_bias² to every entry

  /// Throws Error{usage} if the network has no certificate.
  explicit CertifiedKernel(const Model& model);
  /// Returns the coordinate that a bias of the first layer adds to every sample, rounded up.
  [[nodiscard]] double lift() const { return cone ? 0 : lifted_coordinate(chain).high; }
};

/// The training samples of a machine, original and scaled to the middle of the float64 range.
class ScaledSupport {
 public:
  /// `lift` is the coordinate that a bias of the first layer adds to every sample.
  ScaledSupport(Matrix<double> rows, double lift);

  [[nodiscard]] MatrixView<const double> rows() const { return rows_.view(); }
  [[nodiscard]] MatrixView<const double> scaled() const { return scaled_.rows() > 0 ? scaled_.view() : rows_.view(); }
  [[nodiscard]] const std::vector<int>& exponents() const { return exponents_; }  ///< empty: all 0

 private:
  Matrix<double> rows_, scaled_;  ///< scaled_ has no rows if it equals rows_
  std::vector<int> exponents_;
};

/// A block of points that are certified together.
struct ScaledPoints {
  MatrixView<const double> points;
  MatrixView<const double> scaled;  ///< the same in units of 2^exponent
  std::span<const Index> rows;      ///< their indices among all points
  std::vector<Index> labels;
  PointBlock done;
};

/// A machine with all data that do not depend on the points, for points with one scale exponent.
class CertifiedMachine {
 public:
  /// Borrows all arguments. The box of `options` is in units of 2^exponent, its radius is not. Throws Error{usage} if
  /// the network has no certificate by the requested method.
  CertifiedMachine(const Model& model, const CertifiedKernel& kernel, const ScaledSupport& support,
                   const CertifyOptions& options, const Engine& engine, int exponent);

  /// Appends the results of a block to every list of `result`.
  void certify_block(const ScaledPoints& block, Certificates& result) const;
  [[nodiscard]] const std::string& remark() const { return remark_; }

 private:
  [[nodiscard]] Matrix<double> decisions(MatrixView<const double> points) const;
  struct Parts;
  /// Returns the applicable methods, best first.
  [[nodiscard]] std::vector<CertificateMethod> methods() const;
  [[nodiscard]] std::unique_ptr<LowerBound> make_bound(CertificateMethod method, const Parts& parts) const;
  void find_radii(const Parts& parts, Progress* progress, Certificates& result) const;
  void certify_radius(const Parts& parts, Certificates& result) const;
  [[nodiscard]] std::vector<bool> changed(MatrixView<const double> scaled, std::span<const Index> points,
                                          std::span<const Index> labels) const;
  [[nodiscard]] AttackGoal goal_of(const Parts& parts) const;
  void find_attacks(const Parts& parts, std::span<const Index> labels, Certificates& result) const;

  const Model& model_;
  const CertifiedKernel& kernel_;
  const ScaledSupport& support_;
  const CertifyOptions& options_;
  EntryExponents exponents_;  ///< of points and support
  SupportGeometry geometry_;
  mutable Matrix<double> products_;  ///< reused memory of the last block's inner products
  const Engine& engine_;
  std::string remark_;
};

}  // namespace widelimit
