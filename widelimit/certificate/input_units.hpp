#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/data/preparation/scaling.hpp"

#include <vector>

namespace widelimit {

/// Balls and boxes in the units of the samples x as they are given, where a model sees z = (x − shift)/scale.
///
/// |x'_j − x_j| ≤ ε·w_j implies |z'_j − z_j| ≤ ε·w_j/|scale_j| + e_j, with e_j for the rounding of z and z'. So the
/// ball of radius ε about x maps into the ball about z with half-widths r·d_j, where D = max_j w_j/|scale_j|, d_j =
/// w_j/(|scale_j|·D) and
///   r = ε·D + max_j e_j/d_j.                                     [docs/theory/certificates-proof.md#units]
/// What is certified there is certified here. Where there is no scaling, z is x, and e is 0.
class InputUnits {
 public:
  /// `scaling` is null where there is none; `precision` that of the scaled samples. Error{usage} where widths or box
  /// have another number of features, where the units of input are asked for and each sample is divided by its own
  /// norm, and where an ℓ2 ball in them is an ellipsoid after scaling.
  InputUnits(const Scaler* scaling, const CertifyOptions& options, Index features, Precision precision);

  /// The options for scaled samples `points`. Error{input} names the first value outside the box.
  [[nodiscard]] CertifyOptions scaled(MatrixView<const double> points) const;
  /// Radii, distances and attacked samples in the units that were asked for.
  void restore(MatrixView<const double> points, Certificates& result) const;

 private:
  void check_box(const Box& scaled_box, MatrixView<const double> points) const;
  /// max_j e_j/d_j of one scaled sample.
  [[nodiscard]] double rounding(const double* z) const;
  [[nodiscard]] double to_input(double z, Index j) const { return z * scale_[usize(j)] + shift_[usize(j)]; }

  const CertifyOptions& options_;
  CertificateUnits units_ = CertificateUnits::input;
  bool by_norm_ = false;               ///< each sample is divided by its own norm
  bool by_feature_ = false;            ///< z differs from x, feature by feature
  std::vector<double> shift_, scale_;  ///< 0 and 1 where it does not
  std::vector<double> widths_;         ///< w
  std::vector<double> relative_;       ///< d
  double largest_ = 1;                 ///< D, rounded up
  double roundoff_ = 0;                ///< of the scaled samples, with what is allowed for
};

}  // namespace widelimit
