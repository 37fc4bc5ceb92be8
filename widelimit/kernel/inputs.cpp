#include "widelimit/kernel/inputs.hpp"

#include "widelimit/base/error.hpp"

#include <cmath>

namespace widelimit {

namespace {

/// 0·x is 0 for every finite x, and NaN otherwise; unlike a test with a branch, this sum is vectorised.
template <typename T>
bool all_finite(const T* values, Index size) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index k = 0; k < size; ++k) sum += T(0) * values[k];
  return sum == 0;
}

}  // namespace

void check_samples(const SampleView& x) {
  std::visit(
      [&](const auto& rows) {
        if (rows.cols != x.shape.size()) {
          fail(Code::input, "samples have {} values each, but shape {} needs {}", rows.cols, to_string(x.shape),
               x.shape.size());
        }
        for (Index i = 0; i < rows.rows; ++i) {
          if (all_finite(rows.row(i), rows.cols)) continue;
          for (Index j = 0; j < rows.cols; ++j) {
            if (!std::isfinite(rows(i, j))) {
              fail(Code::input, "sample {} has {} at value {}; remove or replace it first", i, rows(i, j), j);
            }
          }
        }
      },
      x.values);
}

void check_same_shape(const SampleView& x1, const SampleView& x2) {
  if (x1.shape != x2.shape) {
    fail(Code::input, "the two sets have samples of different shape, {} and {}", to_string(x1.shape),
         to_string(x2.shape));
  }
}

RecipeOutputs recipe_outputs(Kind kind) {
  if (kind == Kind::both) return RecipeOutputs::both;
  return kind == Kind::nngp ? RecipeOutputs::nngp : RecipeOutputs::ntk;
}

}  // namespace widelimit
