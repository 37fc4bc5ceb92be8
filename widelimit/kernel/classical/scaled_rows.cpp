#include "widelimit/kernel/classical/scaled_rows.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/host/host.hpp"
#include "widelimit/engine/host/sparse_product.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

void check_columns(Index cols, const Shape& shape, std::string_view name) {
  if (cols == shape.size()) return;
  fail(Code::input, "{}: rows of {} values do not fit the shape {}", name, cols, to_string(shape));
}

[[noreturn]] void refuse_value(std::string_view name, Index i, Index k) {
  fail(Code::input, "{}: value {} of sample {} is not finite; remove or impute it", name, k, i);
}

Matrix<double> read_dense(const SampleView& samples, std::string_view name) {
  return std::visit(
      [&](const auto& view) {
        check_columns(view.cols, samples.shape, name);
        Matrix<double> values(view.rows, view.cols);
        for (Index i = 0; i < view.rows; ++i) {
          for (Index k = 0; k < view.cols; ++k) {
            const auto value = static_cast<double>(view(i, k));
            if (!std::isfinite(value)) refuse_value(name, i, k);
            values(i, k) = value;
          }
        }
        return values;
      },
      samples.dense({"classical kernels", "use the kernel of a graph network, such as gntk:4"}));
}

SparseMatrix read_sparse(const SampleView& samples, std::string_view name) {
  SparseMatrix values = sparse_copy(samples);
  check_columns(values.cols(), samples.shape, name);
  for (Index i = 0; i < values.rows(); ++i) {
    const SparseView::Row row = values.view().row(i);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (!std::isfinite(row.values[k])) refuse_value(name, i, row.columns[k]);
    }
  }
  return values;
}

/// Scales a row by the power of two that brings its largest magnitude to [½, 1); sets its exponent and ‖unit‖².
void scale_row(std::span<const double> values, double* unit, int& exponent, double& square) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  std::frexp(largest, &exponent);
  square = 0.0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    unit[k] = std::ldexp(values[k], -exponent);
    square += unit[k] * unit[k];
  }
}

}  // namespace

ScaledRows::ScaledRows(const SampleView& samples, std::string_view name)
    : values_(read_dense(samples, name)),
      unit_(values_.rows(), values_.cols()),
      exponents_(usize(values_.rows()), 0),
      squares_(usize(values_.rows()), 0.0) {
  for (Index i = 0; i < count(); ++i) {
    scale_row({values_.view().row(i), usize(size())}, unit_.view().row(i), exponents_[usize(i)], squares_[usize(i)]);
  }
}

void ScaledRows::multiply(Range rows, const ScaledRows& other, Range cols, MatrixView<double> out) const {
  host::product<double>(1, Transpose::no, unit_.view().block(rows.begin, 0, rows.size(), size()), Transpose::yes,
                        other.unit_.view().block(cols.begin, 0, cols.size(), size()), 0, out);
}

SparseRows::SparseRows(const SampleView& samples, std::string_view name)
    : values_(read_sparse(samples, name)),
      unit_(SparseMatrix::copy(values_.view())),
      exponents_(usize(values_.rows()), 0),
      squares_(usize(values_.rows()), 0.0) {
  for (Index i = 0; i < count(); ++i) {
    scale_row(values_.view().row(i).values, unit_.row_values(i).data(), exponents_[usize(i)], squares_[usize(i)]);
  }
}

void SparseRows::multiply(Range rows, const SparseRows& other, Range cols, MatrixView<double> out) const {
  host::sparse_product(unit_.view().part(rows.begin, rows.size()), other.unit_.view().part(cols.begin, cols.size()),
                       out);
}

ScaledSquare squared_distance(const ScaledRow& p, const ScaledRow& q) {
  double largest = 0.0;
  for (Index k = 0; k < p.size; ++k) largest = std::max(largest, std::abs(p.values[k] - q.values[k]));
  int exponent = 0;
  std::frexp(largest, &exponent);
  double sum = 0.0;
  for (Index k = 0; k < p.size; ++k) {
    const double difference = std::ldexp(p.values[k] - q.values[k], -exponent);
    sum += difference * difference;
  }
  return {sum, exponent};
}

ScaledSquare squared_distance(const SparseRow& p, const SparseRow& q) {
  double largest = 0.0;
  each_of_both(p.values, q.values, [&](double x, double y) { largest = std::max(largest, std::abs(x - y)); });
  int exponent = 0;
  std::frexp(largest, &exponent);
  double sum = 0.0;
  each_of_both(p.values, q.values, [&](double x, double y) {
    const double difference = std::ldexp(x - y, -exponent);
    sum += difference * difference;
  });
  return {sum, exponent};
}

double absolute_distance(const ScaledRow& p, const ScaledRow& q) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (Index k = 0; k < p.size; ++k) sum += std::abs(p.values[k] - q.values[k]);
  return sum;
}

double absolute_distance(const SparseRow& p, const SparseRow& q) {
  double sum = 0.0;
  each_of_both(p.values, q.values, [&](double x, double y) { sum += std::abs(x - y); });
  return sum;
}

double absolute_distance(const ScaledRow& p, const ScaledRow& q, int exponent) {
  double sum = 0.0;
  for (Index k = 0; k < p.size; ++k) {
    sum += std::abs(std::ldexp(p.values[k], -exponent) - std::ldexp(q.values[k], -exponent));
  }
  return sum;
}

double absolute_distance(const SparseRow& p, const SparseRow& q, int exponent) {
  double sum = 0.0;
  each_of_both(p.values, q.values,
               [&](double x, double y) { sum += std::abs(std::ldexp(x, -exponent) - std::ldexp(y, -exponent)); });
  return sum;
}

double direction_distance(const ScaledRow& p, double norm_p, const ScaledRow& q, double norm_q) {
  double sum = 0.0;
  for (Index k = 0; k < p.size; ++k) {
    const double difference = p.unit[k] / norm_p - q.unit[k] / norm_q;
    sum += difference * difference;
  }
  return sum;
}

double direction_distance(const SparseRow& p, double norm_p, const SparseRow& q, double norm_q) {
  double sum = 0.0;
  each_of_both(p.unit, q.unit, [&](double x, double y) {
    const double difference = x / norm_p - y / norm_q;
    sum += difference * difference;
  });
  return sum;
}

}  // namespace widelimit
