#include "widelimit/certificate/cone/geometry.hpp"

#include "widelimit/certificate/certify.hpp"
#include "widelimit/engine/cones.hpp"
#include "widelimit/engine/enclosure/interval.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace widelimit {

namespace {

/// Marks the features that are non-zero in some row.
void mark_used(MatrixView<const double> rows, char* occurs) {
  for (Index i = 0; i < rows.rows; ++i) {
    const double* row = rows.row(i);
    for (Index j = 0; j < rows.cols; ++j) occurs[j] = row[j] != 0 ? char{1} : occurs[j];
  }
}

/// Copies rows restricted to these features.
void keep_features(MatrixView<const double> rows, std::span<const Index> features, MatrixView<double> to) {
  for (Index i = 0; i < rows.rows; ++i) {
    const double* from = rows.row(i);
    double* row = to.row(i);
    for (std::size_t j = 0; j < features.size(); ++j) row[j] = from[features[j]];
  }
}

}  // namespace

double euclidean_norm(const double* row, Index size) {
  long double sum = 0;
  for (Index j = 0; j < size; ++j) sum += static_cast<long double>(row[j]) * row[j];
  return static_cast<double>(std::sqrt(sum));
}

double sum_norm(const double* row, Index size, std::span<const double> weights) {
  long double sum = 0;
  for (Index j = 0; j < size; ++j) {
    const long double term = std::abs(static_cast<long double>(row[j]));
    sum += weights.empty() ? term : term * static_cast<long double>(weights[usize(j)]);
  }
  return static_cast<double>(sum);
}

SupportGeometry::SupportGeometry(MatrixView<const double> support, const CertifyOptions& options, const Engine& engine)
    : directions(support.rows, support.cols, Content::unset),
      norms(usize(support.rows)),
      sum_norms(usize(support.rows)),
      // Error of a sum of d squares in long double, a square root and a rounding to double.
      norm_error((2 + static_cast<double>(support.cols) * 0x1p-11) * unit_roundoff) {
  constexpr Index rows_at_once = 256;
  const Index tasks = (support.rows + rows_at_once - 1) / rows_at_once;
  std::vector<char> negative(usize(tasks), 0), occurs(usize(tasks * support.cols), 0);
  engine.for_each(tasks, [&](Index task) {
    const Index begin = task * rows_at_once, end = std::min(support.rows, begin + rows_at_once);
    mark_used(support.block(begin, 0, end - begin, support.cols), occurs.data() + task * support.cols);
    for (Index i = begin; i < end; ++i) {
      const double norm = norms[usize(i)] = euclidean_norm(support.row(i), support.cols);
      double* to = directions.view().row(i);
      for (Index j = 0; j < support.cols; ++j) to[j] = norm > 0 ? support(i, j) / norm : 0;
      sum_norms[usize(i)] = sum_norm(to, support.cols, options.widths) * (1 + 2 * norm_error + 4 * unit_roundoff);
      if (std::any_of(to, to + support.cols, [](double x) { return x < 0; })) negative[usize(task)] = 1;
    }
  });
  for (Index j = 0; j < support.cols; ++j) {
    Index task = 0;
    while (task < tasks && occurs[usize(task * support.cols + j)] == 0) ++task;
    if (task < tasks) used.push_back(j);
  }
  if (options.box && std::find(negative.begin(), negative.end(), 1) != negative.end()) {
    absolute = Matrix<double>(support.rows, support.cols, Content::unset);
    std::transform(directions.data(), directions.data() + support.rows * support.cols, absolute.data(),
                   [](double x) { return std::abs(x); });
  }
  if (cones_of(engine) != nullptr) hold(engine, options.box.has_value());
}

void SupportGeometry::hold(const Engine& engine, bool boxed) {
  const Algebra& algebra = engine.algebra();
  const auto copied = [&](const Matrix<double>& rows) { return algebra.hold(MatrixView<const double>(rows.view())); };
  held.emplace(HeldSupport{.engine = engine, .cones = *cones_of(engine), .directions = copied(directions)});
  if (boxed) held->absolute = absolute.rows() > 0 ? copied(absolute) : held->directions;
  held->spread =
      algebra.hold(MatrixView<const double>{sum_norms.data(), 1, std::ssize(sum_norms), std::ssize(sum_norms)});
}

PointGeometry::PointGeometry(const SupportGeometry& directions, MatrixView<const double> points, const Engine& engine,
                             Matrix<double> memory)
    : support(directions),
      inner(memory.rows() >= points.rows && memory.cols() == directions.directions.rows()
                ? std::move(memory)
                : Matrix<double>(directions.held ? 0 : points.rows, directions.directions.rows(), Content::unset)),
      norms(usize(points.rows)),
      // Error of a product of d terms in any order; directions have two roundings and the error of the norm.
      inner_error(1.01 * (static_cast<double>(points.cols) + 4) * unit_roundoff + directions.norm_error) {
  engine.for_each(points.rows, [&](Index k) { norms[usize(k)] = euclidean_norm(points.row(k), points.cols); });
  if (support.held) {
    const Algebra& algebra = engine.algebra();
    placed = algebra.allocate(points.rows, inner.cols(), Precision::f64);
    if (points.rows == 0 || inner.cols() == 0) return;
    algebra.product(1, Transpose::no, algebra.hold(points), Transpose::yes, support.held->directions, 0, placed);
    return;
  }
  std::vector<char> occurs(usize(points.cols), 0);
  mark_used(points, occurs.data());
  std::vector<Index> features;
  std::copy_if(support.used.begin(), support.used.end(), std::back_inserter(features),
               [&](Index j) { return occurs[usize(j)] != 0; });
  if (features.empty()) features.push_back(0);  // avoids an empty product
  const Index size = std::ssize(features);
  Matrix<double> kept(points.rows, size, Content::unset);
  keep_features(points, features, kept.view());
  // BLAS packs all points once per block of directions; a block stays in the L2 cache.
  constexpr Index directions_at_once = 512;
  const Index count = inner.cols();
  engine.for_each((count + directions_at_once - 1) / directions_at_once, [&](Index task) {
    const Index begin = task * directions_at_once, rows = std::min(directions_at_once, count - begin);
    std::vector<double> copied(usize(rows * size));
    const MatrixView<double> block{copied.data(), rows, size, size};
    keep_features(support.directions.view().block(begin, 0, rows, points.cols), features, block);
    host::product<double>(1, Transpose::no, kept.view(), Transpose::yes, block, 0,
                          inner.view().block(0, begin, points.rows, rows));
  });
}

}  // namespace widelimit
