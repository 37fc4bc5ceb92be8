#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/data/preparation/scaling.hpp"

#include <vector>

namespace widelimit {

/// Balls and boxes in the units of the original samples x, for a model that receives z = (x − shift)/scale.
///
/// |x'_j − x_j| ≤ ε·w_j implies |z'_j − z_j| ≤ ε·w_j/|scale_j| + e_j, with e_j the rounding of z and z'. Therefore the
/// ball of radius ε about x maps into the ball about z with half-widths r·d_j, where D = max_j w_j/|scale_j|, d_j =
/// w_j/(|scale_j|·D) and
///   r = ε·D + max_j e_j/d_j.                                     [docs/theory/certificates-proof.md#units]
/// A certificate for z is then a certificate for x. Without scaling, z = x and e = 0.
class InputUnits {
 public:
  /// `scaling` is null without scaling; `precision` is that of the scaled samples. Throws Error{usage} if widths or box
  /// have another number of features, if units `input` are requested but each sample is divided by its own norm, or if
  /// an ℓ2 ball in these units is an ellipsoid after scaling.
  InputUnits(const Scaler* scaling, const CertifyOptions& options, Index features, Precision precision);

  /// Returns the options for scaled samples `points`. Throws Error{input} for the first value outside the box.
  [[nodiscard]] CertifyOptions scaled(MatrixView<const double> points) const;
  /// Returns whether balls of the requested widths have equal widths in all features after scaling.
  [[nodiscard]] bool cubes() const;
  /// Converts radii, distances and attacked samples to the requested units.
  void restore(MatrixView<const double> points, Certificates& result) const;

 private:
  void check_box(const Box& scaled_box, MatrixView<const double> points) const;
  /// Returns max_j e_j/d_j of one scaled sample.
  [[nodiscard]] double rounding(const double* z) const;
  [[nodiscard]] double to_input(double z, Index j) const { return z * scale_[usize(j)] + shift_[usize(j)]; }

  const CertifyOptions& options_;
  CertificateUnits units_ = CertificateUnits::input;
  bool by_norm_ = false;               ///< each sample is divided by its own norm
  bool by_feature_ = false;            ///< z is x scaled feature by feature
  std::vector<double> shift_, scale_;  ///< 0 and 1 otherwise
  std::vector<double> widths_;         ///< w
  std::vector<double> relative_;       ///< d
  double largest_ = 1;                 ///< D, rounded up
  double roundoff_ = 0;                ///< relative rounding error of the scaled samples
};

}  // namespace widelimit
