#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/cpu/vector/series_row.hpp"
#include "widelimit/engine/cpu/vector/strip.hpp"
#include "widelimit/engine/quadrature_error.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <memory>
#include <span>
#include <vector>

/// Per-place quantities of one side of a pair that a step needs; a place is a sample (networks on vectors) or a
/// position of an image.
namespace widelimit::cpu {

using Variances = std::vector<long double>;

/// F numbers for each of N places: array f runs over the places, padded to whole vectors.
struct Features {
  Matrix<double> f64;
  Matrix<float> f32;                          ///< rounded copy, filled if strips are float
  Index terms = 0;                            ///< coefficients per place, for duals by series
  std::shared_ptr<const Pointwise> function;  ///< φ of the dual if it has no closed form

  template <typename T>
  [[nodiscard]] const T* array(Index f) const;
  [[nodiscard]] Index stride() const { return f64.cols(); }
  void round_to_float();
};

template <>
inline const double* Features::array<double>(Index f) const {
  return f64.data() + f * f64.cols();
}
template <>
inline const float* Features::array<float>(Index f) const {
  return f32.data() + f * f32.cols();
}

/// Result of a step applied to variances only.
struct Advance {
  Variances variance;  ///< after the step
  Variances dot;       ///< dual: E[φ'(u)²], the factor of the diagonal of Θ
  Features features;   ///< features for strips
  DualError error;     ///< dual: maximum over all places
};

/// Accuracy of duals by quadrature. `follow`: the input has errors, so their amplification is needed too.
struct Accuracy {
  double tolerance = 0.0;
  bool follow = false;
};
/// Returns the admissible error of a dual, relative to the geometric mean of both second moments.
[[nodiscard]] double quadrature_tolerance(Precision precision);

/// Applies affine, dual, layer_norm or dropout, which act on each place separately. Throws Error{numerical} if a
/// variance overflows double.
[[nodiscard]] Advance advance(const Recipe& recipe, const Step& step, const Variances& variance,
                              const Accuracy& accuracy);

/// Applies join; features are the deviations of both branches relative to that of their sum.
[[nodiscard]] Advance advance_join(const Variances& first, const Variances& second);

/// Upper bound of the number of features that strips need for a step.
[[nodiscard]] Index feature_count(const Step& step);
[[nodiscard]] Features make_features(Index count, Index places);
/// Returns a/b, or 0 if b is 0: a place with variance 0 has no correlations.
[[nodiscard]] double ratio(long double a, long double b);
void check_variances(const Variances& variance);

}  // namespace widelimit::cpu
