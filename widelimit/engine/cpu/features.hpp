#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/cpu/vector/series_row.hpp"
#include "widelimit/engine/cpu/vector/strip.hpp"
#include "widelimit/engine/quadrature_error.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <memory>
#include <span>
#include <vector>

/// What a step needs to know of one side of a pair: numbers for each place, a place being a sample (networks on
/// vectors) or a position of an image.
namespace widelimit::cpu {

using Variances = std::vector<long double>;

/// F numbers for each of N places: array f runs over the places, padded for whole vectors.
struct Features {
  Matrix<double> f64;
  Matrix<float> f32;                          ///< the same, rounded; filled where strips are float
  Index terms = 0;                            ///< coefficients of each place, of a dual by series
  std::shared_ptr<const Pointwise> function;  ///< its φ, where that has no closed form

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

/// A step carried out on variances alone.
struct Advance {
  Variances variance;  ///< after the step
  Variances dot;       ///< dual: E[φ'(u)²], what multiplies Θ of a place with itself
  Features features;   ///< for strips
  DualError error;     ///< dual: the worst over all places
};

/// What is asked of duals by quadrature. `follow`: errors come in, so what a dual makes of them is wanted too.
struct Accuracy {
  double tolerance = 0.0;
  bool follow = false;
};
/// What may be left of a dual, relative to the root of the product of both second moments.
[[nodiscard]] double quadrature_tolerance(Precision precision);

/// affine, dual, layer_norm, dropout: places do not mix. Error{numerical} where a variance overflows double.
[[nodiscard]] Advance advance(const Recipe& recipe, const Step& step, const Variances& variance,
                              const Accuracy& accuracy);

/// join: the deviations of both branches relative to that of their sum.
[[nodiscard]] Advance advance_join(const Variances& first, const Variances& second);

/// Features that strips need of a step, at most.
[[nodiscard]] Index feature_count(const Step& step);
[[nodiscard]] Features make_features(Index count, Index places);
/// a/b, and 0 where b is 0: a place without variance has no correlation with anything.
[[nodiscard]] double ratio(long double a, long double b);
void check_variances(const Variances& variance);

}  // namespace widelimit::cpu
