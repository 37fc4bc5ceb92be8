#include "widelimit/machine/indefinite.hpp"

#include "widelimit/machine/lapack.hpp"
#include "widelimit/machine/product.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace widelimit {

namespace {

constexpr Index lanczos_steps = 100;

using Extremes = std::pair<double, double>;

/// Smallest and largest eigenvalue of a symmetric matrix, by tridiagonal reduction.
Extremes exact_extremes(const AnyView& k) {
  const int n = lapack_size(samples_of(k));
  Matrix<double> a(n, n, Content::unset);
  std::visit(
      [&](const auto& view) {
        for (Index i = 0; i < n; ++i) std::copy_n(view.row(i), n, a.view().row(i));
      },
      k);
  std::vector<double> values(static_cast<std::size_t>(n));
  std::vector<int> support(2 * static_cast<std::size_t>(n));
  const double none = 0;
  const int zero = 0;
  const int one = 1;
  int found = 0;
  int info = 0;
  int query = -1;
  double best = 0;
  int integers_size = 0;
  double unused = 0;
  dsyevr_("N", "A", "L", &n, a.data(), &n, &none, &none, &zero, &zero, &none, &found, values.data(), &unused, &one,
          support.data(), &best, &query, &integers_size, &query, &info);
  const int work_size = static_cast<int>(best);
  std::vector<double> work(static_cast<std::size_t>(work_size));
  std::vector<int> integers(static_cast<std::size_t>(integers_size));
  dsyevr_("N", "A", "L", &n, a.data(), &n, &none, &none, &zero, &zero, &none, &found, values.data(), &unused, &one,
          support.data(), work.data(), &work_size, integers.data(), &integers_size, &info);
  return {values.front(), values.back()};
}

/// Extreme Ritz values of a Krylov space, kept orthogonal by two passes of Gram–Schmidt.
Extremes lanczos_extremes(const AnyView& k) {
  const Index n = samples_of(k);
  const Index steps = std::min(lanczos_steps, n);
  Matrix<double> basis(steps, n);
  std::vector<double> diagonal;
  std::vector<double> beside;
  std::vector<double> next(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) basis(0, i) = std::sin(1.0 + 0.7 * static_cast<double>(i));
  cblas_dscal(static_cast<int>(n), 1 / cblas_dnrm2(static_cast<int>(n), basis.data(), 1), basis.data(), 1);
  std::vector<double> overlap(static_cast<std::size_t>(steps));
  for (Index step = 0; step < steps; ++step) {
    const double* q = basis.view().row(step);
    multiply(k, {q, n, 1, 1}, {next.data(), n, 1, 1});
    diagonal.push_back(cblas_ddot(static_cast<int>(n), q, 1, next.data(), 1));
    const int done = static_cast<int>(step + 1);
    for (int pass = 0; pass < 2; ++pass) {
      cblas_dgemv(CblasRowMajor, CblasNoTrans, done, static_cast<int>(n), 1.0, basis.data(), static_cast<int>(n),
                  next.data(), 1, 0.0, overlap.data(), 1);
      cblas_dgemv(CblasRowMajor, CblasTrans, done, static_cast<int>(n), -1.0, basis.data(), static_cast<int>(n),
                  overlap.data(), 1, 1.0, next.data(), 1);
    }
    const double length = cblas_dnrm2(static_cast<int>(n), next.data(), 1);
    if (step + 1 == steps || length <= std::numeric_limits<double>::epsilon() * std::abs(diagonal.front())) break;
    beside.push_back(length);
    for (Index i = 0; i < n; ++i) basis(step + 1, i) = next[static_cast<std::size_t>(i)] / length;
  }
  beside.push_back(0);
  const int size = static_cast<int>(diagonal.size());
  int info = 0;
  dsterf_(&size, diagonal.data(), beside.data(), &info);
  return {diagonal.front(), diagonal.back()};
}

/// Up to two digits, never down: a cure must be enough.
double rounded_up(double value) {
  if (!(value > 0)) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  const double rounded = std::ceil(value / unit) * unit;
  return std::isfinite(rounded) && rounded >= value ? rounded : value;
}

}  // namespace

Indefinite diagnosis(Index minor, double smallest, double norm, Index samples, double epsilon) {
  Indefinite result{minor, smallest, norm, 0, {}};
  const double rounding = static_cast<double>(samples) * epsilon * norm;
  result.lambda = rounded_up(2 * (std::max(-smallest, 0.0) + 2 * rounding));
  result.message = "the Gram matrix is not positive definite: ";
  if (minor > 0) {
    result.message += fmt::format("its leading minor of order {} is not positive beyond rounding, ", minor);
  }
  result.message += fmt::format("its smallest eigenvalue is {:.2g}, its largest {:.2g}; ", smallest, norm);
  result.message += norm > 0 ? fmt::format("a ridge of lambda = {:.2g} or more makes it so", result.lambda)
                             : std::string("any ridge lambda > 0 makes it so");
  return result;
}

Indefinite diagnose(const AnyView& k, Index minor, Index most_exact) {
  const Index n = samples_of(k);
  const Extremes extremes = n <= most_exact ? exact_extremes(k) : lanczos_extremes(k);
  const double epsilon = std::holds_alternative<MatrixView<const float>>(k)
                             ? static_cast<double>(std::numeric_limits<float>::epsilon())
                             : std::numeric_limits<double>::epsilon();
  return diagnosis(minor, extremes.first, std::max(std::abs(extremes.first), std::abs(extremes.second)), n, epsilon);
}

std::string diagonal_cure(const AnyView& k) {
  const Indefinite found = diagnose(k, 0);
  return fmt::format("the Gram matrix has the negative eigenvalue {:.2g}; add {:.2g} or more to its diagonal",
                     found.smallest, found.lambda / 2);
}

}  // namespace widelimit
