#pragma once

#include "widelimit/data/dataset.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Scaling of features before kernels are computed.
enum class Scaling : std::uint8_t {
  none,
  unit,      ///< each row to norm 1; zero rows are unchanged
  standard,  ///< each column to mean 0 and (population) standard deviation 1; a constant column is only shifted
  minmax,    ///< each column to [0, 1]; a constant column is only shifted
  byte,      ///< division by 255
  maxabs,    ///< each column divided by its largest magnitude; a zero column is unchanged
  channel,   ///< each image channel to mean 0 and standard deviation 1 over all positions; for vectors as `standard`
};

[[nodiscard]] std::string_view to_string(Scaling scaling);
/// Throws Error{usage} with the choices if `text` is none of them.
[[nodiscard]] Scaling parse_scaling(std::string_view text);

/// Scaling that is fitted on training data and applied to any data: x ↦ (x − shift)/scale per column, or the row or
/// constant variant. Sums are accumulated over x/max|x|, so that values like 1e±150 neither overflow nor underflow.
class Scaler {
 public:
  /// Fits the scaling to `train`, in two passes. Throws Error{input} if `train` is sparse and the scaling shifts
  /// columns, which would destroy sparsity.
  Scaler(Scaling scaling, const Dataset& train);
  /// Restores a fitted scaling: one shift and one scale per feature. Throws Error{input} unless their numbers are
  /// equal, they are finite and no scale is 0.
  Scaler(Scaling scaling, std::vector<double> shift, std::vector<double> scale);
  /// Scales in place. Throws Error{input} if the number of features differs or sparse columns would be shifted;
  /// Error{numerical} if a result would overflow.
  void apply(Dataset& data) const;

  [[nodiscard]] Scaling scaling() const { return scaling_; }
  [[nodiscard]] Index features() const { return features_; }
  [[nodiscard]] const std::vector<double>& shift() const { return shift_; }
  [[nodiscard]] const std::vector<double>& scale() const { return scale_; }

 private:
  Scaling scaling_;
  Index features_;
  std::vector<double> shift_;
  std::vector<double> scale_;
};

/// Returns a copy of samples, which a scaler can modify.
[[nodiscard]] Dataset copy_samples(const SampleView& samples, std::string name);

}  // namespace widelimit
