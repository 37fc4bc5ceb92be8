#include "widelimit/kernel/classical/classical_grid.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace widelimit {

namespace {

/// Measures of scale, summed over features.
struct Spread {
  double variance = 0;   ///< Σⱼ var(xⱼ)
  double deviation = 0;  ///< Σⱼ √var(xⱼ)
  double square = 0;     ///< mean of ‖x‖²
};

/// Calls use(column, value) for the stored values of row i; the others are 0.
template <typename T, typename Use>
void visit_row(const MatrixView<const T>& rows, Index i, const Use& use) {
  for (Index j = 0; j < rows.cols; ++j) use(j, static_cast<double>(rows(i, j)));
}
template <typename Use>
void visit_row(const SparseView& rows, Index i, const Use& use) {
  const SparseView::Row row = rows.row(i);
  for (std::size_t k = 0; k < row.size(); ++k) use(static_cast<Index>(row.columns[k]), row.values[k]);
}

/// Two-pass algorithm, which avoids cancellation if the mean is large compared with the variance.
Spread spread_of(const SampleView& x) {
  return std::visit(
      [](const auto& rows) {
        const auto n = static_cast<double>(rows.rows);
        std::vector<double> mean(usize(rows.cols), 0);
        std::vector<double> square(usize(rows.cols), 0);
        std::vector<double> stored(usize(rows.cols), 0);
        Spread spread;
        interruptible_rows(rows.rows, rows.cols, [&](Index i) {
          visit_row(rows, i, [&](Index j, double value) {
            mean[usize(j)] += value / n;
            spread.square += value * value / n;
          });
        });
        interruptible_rows(rows.rows, rows.cols, [&](Index i) {
          visit_row(rows, i, [&](Index j, double value) {
            square[usize(j)] += (value - mean[usize(j)]) * (value - mean[usize(j)]);
            stored[usize(j)] += 1;
          });
        });
        for (std::size_t j = 0; j < mean.size(); ++j) {
          const double variance = (square[j] + (n - stored[j]) * mean[j] * mean[j]) / n;
          spread.variance += variance;
          spread.deviation += std::sqrt(variance);
        }
        return spread;
      },
      x.rows({"classical kernels", "use the kernel of a graph network, such as gntk:4"}));
}

double three_digits(double value) {
  const std::string text = fmt::format("{:.2e}", value);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

/// Returns share/scale; if all samples are equal, scale = 0 and any γ gives the same kernel.
double gamma_of(double share, double scale, ClassicalKernel::Name name) {
  const double gamma = three_digits(scale > 0 ? share / scale : share);
  if (!std::isfinite(gamma) || gamma <= 0) {
    fail(Code::input, "{}: gamma is out of range for samples of scale {:.3g}; scale the samples",
         ClassicalKernel{.name = name, .gamma = {}}.to_text(), scale);
  }
  return gamma;
}

}  // namespace

std::vector<ClassicalKernel> classical_grid(ClassicalKernel::Name name, const SampleView& x) {
  using Name = ClassicalKernel::Name;
  const Spread spread = spread_of(x);
  std::vector<ClassicalKernel> grid;
  switch (name) {
    case Name::linear:
      grid.push_back({.name = name, .gamma = {}});
      break;
    case Name::rbf:
    case Name::laplace:
      for (const double share : {0.01, 0.1, 1.0, 10.0}) {
        const double gamma = gamma_of(share, name == Name::rbf ? spread.variance : spread.deviation, name);
        grid.push_back({.name = name, .gamma = gamma});
      }
      break;
    case Name::polynomial:
      for (const Index degree : {2, 3, 4}) {
        grid.push_back({.name = name, .gamma = gamma_of(1, spread.square, name), .offset = 1, .degree = degree});
      }
      break;
    case Name::arccosine:
      for (const Index degree : {0, 1, 2}) grid.push_back({.name = name, .gamma = {}, .degree = degree});
      break;
  }
  return grid;
}

}  // namespace widelimit
