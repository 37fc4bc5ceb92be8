#pragma once

#include "widelimit/data/dataset.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// What is done to features before a kernel sees them.
enum class Scaling : std::uint8_t {
  none,
  unit,      ///< every row to norm 1; zero rows stay zero
  standard,  ///< every column to mean 0 and (population) standard deviation 1; a constant column is only shifted
  minmax,    ///< every column to [0, 1]; a constant column is only shifted
  byte,      ///< divided by 255
  maxabs,    ///< every column divided by its largest magnitude; a zero column stays as it is
  channel,   ///< every channel of images to mean 0 and standard deviation 1, over all positions; of vectors, `standard`
};

[[nodiscard]] std::string_view to_string(Scaling scaling);
/// Error{usage} lists the choices.
[[nodiscard]] Scaling parse_scaling(std::string_view text);

/// Learned on training data, applied to any: x ↦ (x − shift)/scale by column, or its row and constant forms.
/// Sums are taken of x/max|x|, so that 1e±150 neither overflows nor vanishes.
class Scaler {
 public:
  /// Error{input} where `train` is sparse and the scaling shifts columns: zeros would not stay zero.
  /// Cost: two passes over `train`.
  Scaler(Scaling scaling, const Dataset& train);
  /// As it was learned before: one shift and one scale for each feature. Error{input} unless they are as many, finite,
  /// and no scale is 0.
  Scaler(Scaling scaling, std::vector<double> shift, std::vector<double> scale);
  /// In place. Error{input} where the number of features differs, or sparse columns would be shifted; Error{numerical}
  /// where a result would overflow.
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

/// Samples of their own, which a scaler may write to.
[[nodiscard]] Dataset copy_samples(const SampleView& samples, std::string name);

}  // namespace widelimit
