#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/kernels.hpp"

#include <string_view>
#include <vector>

namespace widelimit {

/// One scaled sample: x = 2^exponent · unit, the largest |unit_k| in [½, 1).
struct ScaledRow {
  const double* values;  ///< x itself
  const double* unit;
  int exponent;
  double square;  ///< ‖unit‖², 0 for a zero row
  Index size;
};

/// The same for a sparse sample.
struct SparseRow {
  SparseView::Row values;
  SparseView::Row unit;
  int exponent;
  double square;
};

/// Samples in double, with a copy of each row scaled by a power of two (exact): inner products of scaled rows lie
/// within ±d for any scale of the data.
class ScaledRows {
 public:
  /// Throws Error{input} naming the sample and the feature that is not finite, or if rows do not match their shape.
  ScaledRows(const SampleView& samples, std::string_view name);
  [[nodiscard]] Index count() const { return values_.rows(); }
  [[nodiscard]] Index size() const { return values_.cols(); }
  [[nodiscard]] ScaledRow operator[](Index i) const {
    return {values_.view().row(i), unit_.view().row(i), exponents_[usize(i)], squares_[usize(i)], size()};
  }
  /// All scaled rows.
  [[nodiscard]] MatrixView<const double> unit() const { return unit_.view(); }
  /// Inner products of scaled rows.
  void multiply(Range rows, const ScaledRows& other, Range cols, MatrixView<double> out) const;

 private:
  Matrix<double> values_;
  Matrix<double> unit_;
  std::vector<int> exponents_;
  std::vector<double> squares_;
};

/// The same for sparse samples, and for dense ones that are compared with sparse ones.
class SparseRows {
 public:
  SparseRows(const SampleView& samples, std::string_view name);
  [[nodiscard]] Index count() const { return values_.rows(); }
  [[nodiscard]] Index size() const { return values_.cols(); }
  [[nodiscard]] SparseRow operator[](Index i) const {
    return {values_.view().row(i), unit_.view().row(i), exponents_[usize(i)], squares_[usize(i)]};
  }
  void multiply(Range rows, const SparseRows& other, Range cols, MatrixView<double> out) const;

 private:
  SparseMatrix values_;
  SparseMatrix unit_;
  std::vector<int> exponents_;
  std::vector<double> squares_;
};

/// ‖x−x'‖² = 2^(2·exponent)·value, by subtraction before squaring; differences are scaled by the largest one.
struct ScaledSquare {
  double value;
  int exponent;
};
[[nodiscard]] ScaledSquare squared_distance(const ScaledRow& p, const ScaledRow& q);
[[nodiscard]] ScaledSquare squared_distance(const SparseRow& p, const SparseRow& q);

/// ‖x−x'‖₁.
[[nodiscard]] double absolute_distance(const ScaledRow& p, const ScaledRow& q);
[[nodiscard]] double absolute_distance(const SparseRow& p, const SparseRow& q);
/// 2^−exponent·‖x−x'‖₁, with the terms scaled before the sum; avoids overflow.
[[nodiscard]] double absolute_distance(const ScaledRow& p, const ScaledRow& q, int exponent);
[[nodiscard]] double absolute_distance(const SparseRow& p, const SparseRow& q, int exponent);

/// ‖unit/norm − unit'/norm'‖².
[[nodiscard]] double direction_distance(const ScaledRow& p, double norm_p, const ScaledRow& q, double norm_q);
[[nodiscard]] double direction_distance(const SparseRow& p, double norm_p, const SparseRow& q, double norm_q);

}  // namespace widelimit
