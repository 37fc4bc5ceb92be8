#include "widelimit/engine/cpu/algebra/tridiagonal.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/lapack.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit::cpu {

namespace {

/// Columns reduced between progress reports; each costs one product with the matrix.
constexpr int panel_columns = 24;
/// Size below which panels are slower than single columns.
constexpr int least_for_panels = 128;
/// Number of eigenvectors back-transformed between progress reports.
constexpr int vectors_at_once = 128;

/// Divides the upper triangle by a power of 2 near its largest entry; returns that power.
double scale_upper(Matrix<double>& a) {
  double largest = 0;
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = i; j < a.cols(); ++j) largest = std::max(largest, std::abs(a(i, j)));
  }
  if (largest == 0) return 1;
  const int power = std::ilogb(largest);
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = i; j < a.cols(); ++j) a(i, j) = std::ldexp(a(i, j), -power);
  }
  return std::ldexp(1.0, power);
}

}  // namespace

TridiagonalForm tridiagonal_form(Matrix<double> a, int threads, Progress* progress) {
  const int n = cpu::lapack_size(a.rows());
  TridiagonalForm form;
  form.scale = scale_upper(a);
  form.diagonal.resize(usize(n));
  form.beside.resize(usize(n));
  form.factors.resize(usize(n));
  std::vector<double> w(usize(n) * panel_columns);
  ProgressTicker ticker(progress, n, "columns of the spectrum");
  int done = 0;
  for (; n - done > least_for_panels; done += panel_columns) {
    const int left = n - done;
    const int rest = left - panel_columns;
    dlatrd_("L", &left, &panel_columns, &a(done, done), &n, &form.beside[usize(done)], &form.factors[usize(done)],
            w.data(), &n);
    // LAPACK's column-major lower triangle is the row-major upper one; the same holds for its reflectors and w.
    const Index next = done + panel_columns;
    tiled_rank_two_update(-1, a.view().block(done, next, panel_columns, rest),
                          {w.data() + panel_columns, panel_columns, rest, n}, a.view().block(next, next, rest, rest),
                          threads);
    for (int j = done; j < done + panel_columns; ++j) {
      a(j, j + 1) = form.beside[usize(j)];
      form.diagonal[usize(j)] = a(j, j);
    }
    ticker.at(done);
  }
  const int left = n - done;
  int info = 0;
  if (left > 0) {
    dsytd2_("L", &left, &a(done, done), &n, &form.diagonal[usize(done)], &form.beside[usize(done)],
            &form.factors[usize(done)], &info);
  }
  form.reflectors = std::move(a);
  return form;
}

std::vector<double> eigenvalues(const TridiagonalForm& form) {
  std::vector<double> values = form.diagonal;
  std::vector<double> beside = form.beside;
  const int n = static_cast<int>(values.size());
  int info = 0;
  dsterf_(&n, values.data(), beside.data(), &info);
  if (info != 0) fail(Code::numerical, "the eigenvalues did not converge (LAPACK dsterf info {})", info);
  for (double& value : values) value *= form.scale;
  return values;
}

std::vector<double> eigenvectors(const TridiagonalForm& form, Matrix<double>& vectors, Progress* progress) {
  const int n = cpu::lapack_size(form.samples());
  vectors = Matrix<double>(n, n);
  if (n == 0) return {};
  ProgressTicker ticker(progress, n, "eigenvectors");
  ticker.at(0);
  std::vector<double> values = form.diagonal;
  std::vector<double> beside = form.beside;
  std::vector<double> work(1 + 4 * usize(n) + usize(n) * usize(n));
  std::vector<int> integers(3 + 5 * usize(n));
  const int work_size = static_cast<int>(std::min<std::size_t>(work.size(), std::numeric_limits<int>::max()));
  const int integers_size = static_cast<int>(integers.size());
  int info = 0;
  dstedc_("I", &n, values.data(), beside.data(), vectors.data(), &n, work.data(), &work_size, integers.data(),
          &integers_size, &info);
  if (info != 0) fail(Code::numerical, "the eigenvectors did not converge (LAPACK dstedc info {})", info);
  // dormtr needs at least one row per vector; a larger workspace enables its blocked code.
  work.resize(std::max(work.size(), usize(vectors_at_once) * 64));
  const int turning_size = static_cast<int>(std::min<std::size_t>(work.size(), usize(vectors_at_once) * 65 + 65 * 64));
  for (int first = 0; first < n; first += vectors_at_once) {
    const int count = std::min(vectors_at_once, n - first);
    dormtr_("L", "L", "N", &n, &count, form.reflectors.data(), &n, form.factors.data(), vectors.view().row(first), &n,
            work.data(), &turning_size, &info);
    ticker.at(first + count);
  }
  for (double& value : values) value *= form.scale;
  return values;
}

}  // namespace widelimit::cpu
