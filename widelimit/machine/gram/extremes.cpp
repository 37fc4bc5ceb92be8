#include "widelimit/machine/gram/extremes.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/machine/factor/lapack.hpp"
#include "widelimit/machine/factor/tridiagonal.hpp"
#include "widelimit/machine/gram/product.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

constexpr Index lanczos_steps = 100;

}  // namespace

Extremes exact_extremes(const AnyView& k, Progress* progress) {
  const Index n = samples_of(k);
  Matrix<double> a(n, n, Content::unset);
  std::visit(
      [&](const auto& view) {
        for (Index i = 0; i < n; ++i) std::copy_n(view.row(i), n, a.view().row(i));
      },
      k);
  const std::vector<double> values = eigenvalues(tridiagonal_form(std::move(a), progress));
  return {values.front(), values.back()};
}

Extremes lanczos_extremes(const AnyView& k, Progress* progress) {
  const Index n = samples_of(k);
  const Index steps = std::min(lanczos_steps, n);
  Matrix<double> basis(steps, n);
  std::vector<double> diagonal;
  std::vector<double> beside;
  std::vector<double> next(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) basis(0, i) = std::sin(1.0 + 0.7 * static_cast<double>(i));
  cblas_dscal(static_cast<int>(n), 1 / cblas_dnrm2(static_cast<int>(n), basis.data(), 1), basis.data(), 1);
  std::vector<double> overlap(static_cast<std::size_t>(steps));
  Pulse pulse(progress, steps, "products for the spectrum");
  for (Index step = 0; step < steps; ++step) {
    pulse.at(step);
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

}  // namespace widelimit
