#include "widelimit/analysis/spectrum/kernel_spectrum.hpp"

#include "widelimit/analysis/dynamics/flow/eigenpairs.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/machine/gram/indefinite.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// Number of rows read at a time.
constexpr Index rows_at_once = 256;

/// Returns an in-memory copy of a matrix that is stored in a file or computed on the fly.
GramMatrix held_copy(const GramMatrix& k, Progress* progress) {
  const Index n = k.samples();
  const EngineMatrix whole = k.algebra().allocate(n, n, k.precision());
  for (Index begin = 0; begin < n; begin += rows_at_once) {
    stop_if_requested(progress);
    const Index count = std::min(rows_at_once, n - begin);
    EngineMatrix part = whole.block(begin, 0, count, n);
    k.algebra().write(k.rows(begin, count).view(), part);
  }
  return {whole, k.engine()};
}

}  // namespace

KernelSpectrum::KernelSpectrum(const GramMatrix& k, const KernelSpectrumOptions& options) : algebra_(&k.algebra()) {
  (void)k.check();
  const auto n = static_cast<double>(k.samples());
  require_matrix_memory(k.engine(), 3 * n * n * sizeof(double), options.memory, "eigenvectors of the Gram matrix",
                        "take fewer samples", {Remedy::fewer_samples, Remedy::more_memory});
  const GramMatrix held = k.held() ? k : held_copy(k, options.progress);
  Eigenpairs pairs = eigenpairs(held, options.progress);
  if (pairs.indefinite) fail(Code::numerical, "{}", diagonal_shift_advice(held, options.progress));
  vectors_ = std::move(pairs.vectors);
  values_.assign(pairs.values.rbegin(), pairs.values.rend());
  // ‖ΔK‖₂ ≤ ε‖|K|‖₂ ≤ ε‖K‖₁ for entries of relative precision ε; the factor 8 is a safety margin for kernels with more
  // than one rounding.
  noise_ = 8 * (k.epsilon() * algebra_->symmetric_norm(held.matrix()) +
                n * std::numeric_limits<double>::epsilon() * values_.front());
  rank_ = std::count_if(values_.begin(), values_.end(), [&](double value) { return value > noise_; });
}

Matrix<double> KernelSpectrum::eigenvectors() const {
  const Index n = samples();
  Matrix<double> rows(n, n, Content::unset);
  algebra_->read(vectors_, rows.view());
  for (Index i = 0; i < n / 2; ++i) {
    std::swap_ranges(rows.view().row(i), rows.view().row(i) + n, rows.view().row(n - 1 - i));
  }
  return rows;
}

std::vector<double> KernelSpectrum::eigenvector(Index i) const {
  const Index n = samples();
  std::vector<double> entries(usize(n));
  algebra_->read(vectors_.block(n - 1 - i, 0, 1, n), MatrixView<double>{entries.data(), 1, n, n});
  return entries;
}

Matrix<double> KernelSpectrum::project(MatrixView<const double> y) const {
  const Index n = samples();
  if (y.rows != n) fail(Code::input, "{} rows of labels for a Gram matrix of {} samples", y.rows, n);
  Matrix<double> dense(n, y.cols, Content::unset);
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < y.cols; ++c) {
      if (!std::isfinite(y(i, c))) fail(Code::input, "label {} of sample {} is {}; it must be finite", c, i, y(i, c));
      dense(i, c) = y(i, c);
    }
  }
  Matrix<double> turned(n, y.cols, Content::unset);
  algebra_->multiply(Transpose::no, vectors_, dense.view(), turned.view());
  for (Index i = 0; i < n; ++i) std::copy_n(turned.view().row(n - 1 - i), y.cols, dense.view().row(i));
  return dense;
}

Matrix<double> KernelSpectrum::inverse() const {
  if (rank_ == 0) fail(Code::numerical, "the kernel is 0 on all samples and has no inverse");
  const Index n = samples();
  Matrix<double> scaled = eigenvectors();
  for (Index i = 0; i < n; ++i) {
    const double scale = 1 / std::sqrt(std::max(values_[usize(i)], noise_));
    for (Index j = 0; j < n; ++j) scaled(i, j) *= scale;
  }
  Matrix<double> result(n, n, Content::unset);
  algebra_->host_product(1, Transpose::yes, scaled.view(), Transpose::no, scaled.view(), 0, result.view());
  return result;
}

std::optional<double> KernelSpectrum::condition() const {
  if (rank_ < samples()) return std::nullopt;
  return values_.front() / values_.back();
}

std::optional<double> KernelSpectrum::stable_rate() const {
  if (rank_ == 0) return std::nullopt;
  return 2 / values_.front();
}

double KernelSpectrum::effective_dimension(double ridge) const {
  if (!(ridge > 0) || !std::isfinite(ridge))
    fail(Code::usage, "the ridge is {}; it must be positive and finite", ridge);
  double sum = 0;
  for (const double value : values_) sum += value / (value + ridge);
  return sum;
}

}  // namespace widelimit
