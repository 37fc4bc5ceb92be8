#include "widelimit/analysis/spectrum.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/data/preprocess.hpp"
#include "widelimit/engine/cpu/algebra/tridiagonal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {

namespace {

Index rows_of(const AnyMatrix& matrix) {
  return std::visit([](const auto& m) { return m.rows(); }, matrix);
}

/// Rows and columns `chosen` in double; Error as eigenvalues() promises.
Matrix<double> submatrix(const AnyMatrix& matrix, std::span<const Index> chosen) {
  Matrix<double> result(std::ssize(chosen), std::ssize(chosen));
  std::visit(
      [&](const auto& m) {
        if (m.rows() != m.cols()) {
          fail(Code::usage, "eigenvalues need a square matrix; this one is {} by {}", m.rows(), m.cols());
        }
        for (Index i = 0; i < result.rows(); ++i) {
          for (Index j = 0; j < result.cols(); ++j) {
            const Index row = chosen[static_cast<std::size_t>(i)];
            const Index col = chosen[static_cast<std::size_t>(j)];
            result(i, j) = static_cast<double>(m(row, col));
            if (!std::isfinite(result(i, j))) {
              fail(Code::input, "entry ({}, {}) of the matrix is {}; eigenvalues need finite entries", row, col,
                   result(i, j));
            }
          }
        }
      },
      matrix);
  return result;
}

std::vector<Index> all_rows(Index n) {
  std::vector<Index> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// Largest first.
std::vector<double> symmetric_eigenvalues(Matrix<double> matrix) {
  if (matrix.rows() > 40'000) fail(Code::resource, "{} rows are too many for eigenvalues", matrix.rows());
  if (matrix.rows() == 0) return {};
  std::vector<double> values = eigenvalues(tridiagonal_form(std::move(matrix), nullptr));
  std::reverse(values.begin(), values.end());
  return values;
}

double epsilon_of(const AnyMatrix& matrix) {
  return std::holds_alternative<Matrix<float>>(matrix) ? std::numeric_limits<float>::epsilon()
                                                       : std::numeric_limits<double>::epsilon();
}

/// Rounding of entries moves eigenvalues by up to n·ε·λ₁; below that λ_n means nothing.
std::optional<double> condition_number(const std::vector<double>& values, double epsilon) {
  if (values.empty()) return std::nullopt;
  const double noise = static_cast<double>(values.size()) * epsilon * values.front();
  if (!(values.back() > noise)) return std::nullopt;
  return values.front() / values.back();
}

double participation(const std::vector<double>& values) {
  const double largest = values.empty() ? 0.0 : std::max(values.front(), -values.back());
  if (largest == 0.0) return 0.0;
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value / largest;
    squares += (value / largest) * (value / largest);
  }
  return sum * sum / squares;
}

}  // namespace

std::vector<double> eigenvalues(const AnyMatrix& matrix) {
  return symmetric_eigenvalues(submatrix(matrix, all_rows(rows_of(matrix))));
}

Spectrum spectrum(const AnyMatrix& gram, const SpectrumOptions& options) {
  if (options.most < 1 || options.subset < 1) fail(Code::usage, "a spectrum needs at least one row");
  Spectrum result;
  result.of = rows_of(gram);
  std::vector<Index> chosen = all_rows(result.of);
  if (result.of > options.most) {
    chosen = permutation(result.of, options.seed);
    chosen.resize(static_cast<std::size_t>(std::min(options.subset, result.of)));
    result.note = fmt::format("Of a random subset of {} of the {} samples.", chosen.size(), result.of);
  }
  result.sampled = std::ssize(chosen);
  result.eigenvalues = symmetric_eigenvalues(submatrix(gram, chosen));
  result.condition = condition_number(result.eigenvalues, epsilon_of(gram));
  result.effective_dimension = participation(result.eigenvalues);
  return result;
}

}  // namespace widelimit
