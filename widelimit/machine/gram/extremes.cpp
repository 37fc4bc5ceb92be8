#include "widelimit/machine/gram/extremes.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"
#include "widelimit/engine/cpu/algebra/tridiagonal.hpp"
#include "widelimit/machine/gram/product.hpp"

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
  const double first_length = cpu::norm({basis.data(), at(n)});
  for (Index i = 0; i < n; ++i) basis(0, i) /= first_length;
  std::vector<double> overlap(static_cast<std::size_t>(steps));
  Pulse pulse(progress, steps, "products for the spectrum");
  for (Index step = 0; step < steps; ++step) {
    pulse.at(step);
    const double* q = basis.view().row(step);
    multiply(k, {q, n, 1, 1}, {next.data(), n, 1, 1});
    diagonal.push_back(cpu::dot({q, at(n)}, next));
    const MatrixView<const double> known = basis.view().block(0, 0, step + 1, n);
    for (int pass = 0; pass < 2; ++pass) {
      cpu::gemv<double>(1, Transpose::no, known, {next.data()}, 0, {overlap.data()});
      cpu::gemv<double>(-1, Transpose::yes, known, {overlap.data()}, 1, {next.data()});
    }
    const double length = cpu::norm(next);
    if (step + 1 == steps || length <= std::numeric_limits<double>::epsilon() * std::abs(diagonal.front())) break;
    beside.push_back(length);
    for (Index i = 0; i < n; ++i) basis(step + 1, i) = next[static_cast<std::size_t>(i)] / length;
  }
  beside.push_back(0);
  cpu::tridiagonal_eigenvalues(diagonal, beside);
  return {diagonal.front(), diagonal.back()};
}

}  // namespace widelimit
