#include "widelimit/certificate/geometry.hpp"

#include "widelimit/backend/cpu/gemm.hpp"
#include "widelimit/base/blas.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/certify.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr double geometry_unit = 0x1p-53;

}  // namespace

double euclidean_norm(const double* row, Index size) {
  long double sum = 0;
  for (Index j = 0; j < size; ++j) sum += static_cast<long double>(row[j]) * row[j];
  return static_cast<double>(std::sqrt(sum));
}

double sum_norm(const double* row, Index size) {
  long double sum = 0;
  for (Index j = 0; j < size; ++j) sum += std::abs(static_cast<long double>(row[j]));
  return static_cast<double>(sum);
}

SupportGeometry::SupportGeometry(MatrixView<const double> support, const CertifyOptions& options)
    : directions(support.rows, support.cols, Content::unset),
      norms(at(support.rows)),
      sum_norms(at(support.rows)),
      // A sum of d squares in long double, then a root and a rounding to double.
      norm_error((2 + static_cast<double>(support.cols) * 0x1p-11) * geometry_unit) {
  constexpr Index rows_at_once = 256;
  const Index tasks = (support.rows + rows_at_once - 1) / rows_at_once;
  std::vector<char> negative(at(tasks), 0);
  parallel_for(tasks, team_size(options.threads), [&](Index task) {
    for (Index i = task * rows_at_once; i < std::min(support.rows, (task + 1) * rows_at_once); ++i) {
      const double norm = norms[at(i)] = euclidean_norm(support.row(i), support.cols);
      double* to = directions.view().row(i);
      for (Index j = 0; j < support.cols; ++j) to[j] = norm > 0 ? support(i, j) / norm : 0;
      sum_norms[at(i)] = sum_norm(to, support.cols) * (1 + 2 * norm_error + 4 * geometry_unit);
      if (std::any_of(to, to + support.cols, [](double x) { return x < 0; })) negative[at(task)] = 1;
    }
  });
  if (!options.box || std::find(negative.begin(), negative.end(), 1) == negative.end()) return;
  absolute = Matrix<double>(support.rows, support.cols, Content::unset);
  std::transform(directions.data(), directions.data() + support.rows * support.cols, absolute.data(),
                 [](double x) { return std::abs(x); });
}

PointGeometry::PointGeometry(const SupportGeometry& directions, MatrixView<const double> points,
                             const CertifyOptions& options)
    : support(directions),
      inner(points.rows, directions.directions.rows(), Content::unset),
      norms(at(points.rows)),
      // A product of d terms in any order, of directions that are off by two roundings and the norm's error.
      inner_error(1.01 * (static_cast<double>(points.cols) + 4) * geometry_unit + directions.norm_error) {
  choose_blas_kernels();
  // BLAS copies the directions once for each block of points.
  constexpr Index points_at_once = 128;
  parallel_for((points.rows + points_at_once - 1) / points_at_once, team_size(options.threads), [&](Index task) {
    const Index begin = task * points_at_once, count = std::min(points_at_once, points.rows - begin);
    cpu::multiply_transposed(points.block(begin, 0, count, points.cols), directions.directions.view(),
                             inner.view().block(begin, 0, count, inner.cols()));
    for (Index k = begin; k < begin + count; ++k) norms[at(k)] = euclidean_norm(points.row(k), points.cols);
  });
}

}  // namespace widelimit
