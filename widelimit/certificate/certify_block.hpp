#pragma once

#include "widelimit/backend/backend.hpp"
#include "widelimit/certificate/attack.hpp"
#include "widelimit/certificate/certified_kernel.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/geometry.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/certificate/point_block.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace widelimit {

/// A machine with all that does not depend on points.
class CertifiedMachine {
 public:
  /// Error{usage} where its network has no certificate by the method asked for.
  CertifiedMachine(const Model& model, MatrixView<const double> support, const CertifyOptions& options);

  /// Appends to every list of `result`. `points` are scaled.
  void certify_block(MatrixView<const double> points, std::span<const Index> labels, const PointBlock& block,
                     Certificates& result) const;
  [[nodiscard]] const std::string& remark() const { return remark_; }

 private:
  [[nodiscard]] Matrix<double> decisions(MatrixView<const double> points) const;
  struct Parts;
  /// Best first.
  [[nodiscard]] std::vector<CertificateMethod> methods() const;
  [[nodiscard]] std::unique_ptr<LowerBound> make_bound(CertificateMethod method, const Parts& parts) const;
  void find_radii(const Parts& parts, Progress* progress, Certificates& result) const;
  void answer_one_radius(const Parts& parts, Certificates& result) const;
  void find_attacks(const Parts& parts, std::span<const Index> labels, const PointBlock& block,
                    Certificates& result) const;

  const Model& model_;
  MatrixView<const double> support_;
  const CertifyOptions& options_;
  SupportGeometry geometry_;
  std::unique_ptr<Backend> backend_;
  CertifiedKernel kernel_;
  std::string remark_;
};

}  // namespace widelimit
