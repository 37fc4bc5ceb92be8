#include "widelimit/machine/ridge/preconditioner.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace widelimit {

void LowRank::multiply(Transpose op, MatrixView<const double> v, MatrixView<double> out) const {
  if (single()) {
    algebra_.multiply_single(op, known(), v, out);
  } else {
    algebra_.multiply(op, known(), v, out);
  }
}

void LowRank::take_from(Matrix<double>& c, std::span<const Index> chosen) const {
  if (rank_ == 0) return;
  std::vector<Index> all(usize(rank_));
  std::iota(all.begin(), all.end(), Index{0});
  Matrix<double> rows(std::ssize(chosen), rank_, Content::unset);
  algebra_.read(algebra_.gather(l_, chosen, all), rows.view());
  Matrix<double> turned(rank_, rows.rows(), Content::unset);
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rank_; ++j) turned(j, i) = rows(i, j);
  }
  subtract_times(turned, c.view());
}

void LowRank::append(Matrix<double>& c) {
  EngineMatrix place = l_.block(0, rank_, l_.rows(), c.cols());
  algebra_.write(c.view(), place);
  algebra_.read(place, c.view());
  rank_ += c.cols();
}

void LowRank::give_back_unused() {
  if (2 * rank_ > l_.cols()) return;
  EngineMatrix kept = algebra_.allocate(l_.rows(), std::max<Index>(rank_, 1), l_.precision());
  EngineMatrix place = kept.block(0, 0, l_.rows(), rank_);
  algebra_.copy(known(), place);
  l_ = std::move(kept);
}

void LowRank::scale_rows(std::span<const double> scale) {
  EngineMatrix rows = known();
  algebra_.scale_rows(rows, scale);
}

EngineMatrix LowRank::inner(double shift) const {
  EngineMatrix result = algebra_.allocate(rank_, rank_, Precision::f64);
  algebra_.inner_product(known(), {}, false, result);
  algebra_.add_to_diagonal(result, std::vector<double>(usize(rank_), shift));
  return result;
}

Matrix<double> LowRank::transposed_times(MatrixView<const double> r) const {
  Matrix<double> result(rank_, r.cols, Content::unset);
  multiply(Transpose::yes, r, result.view());
  return result;
}

void LowRank::subtract_times(const Matrix<double>& s, MatrixView<double> z) const {
  Matrix<double> product(z.rows, z.cols, Content::unset);
  multiply(Transpose::no, s.view(), product.view());
  for (Index i = 0; i < z.rows; ++i) {
    for (Index j = 0; j < z.cols; ++j) z(i, j) -= product(i, j);
  }
}

namespace {

constexpr Index pivot_block = 64;
constexpr double pivot_rounding = std::numeric_limits<double>::epsilon();
/// Smallest c′ relative to the trace: L (c′I + LᵀL)⁻¹ Lᵀ v approximates v up to c′/‖L‖², and their difference must keep
/// some digits.
constexpr double least_share = 1e-10;
/// Same for a float32 L, relative to ‖K‖: sums of thousands of products have a relative error of about 5e-7, and a
/// tenth of it in A·M does not affect the convergence of conjugate gradients.
constexpr double least_single_share = 5e-6;

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Systematic sampling of `count` samples in proportion to `left`: equal steps through the cumulative sum. A sample
/// that exceeds a step is drawn once.
std::vector<Index> draw(const std::vector<double>& left, Index count, double offset) {
  const double step = sum_of(left) / static_cast<double>(count);
  std::vector<Index> chosen;
  double passed = 0;
  double next = offset * step;
  for (std::size_t i = 0; i < left.size(); ++i) {
    passed += left[i];
    if (left[i] > 0 && passed > next) {
      chosen.push_back(static_cast<Index>(i));
      while (next < passed) next += step;
    }
  }
  return chosen;
}

/// Returns the mean of Σ|K_ij| over some columns, about ‖K‖ if the entries have the same sign.
double norm_estimate(const GramMatrix& k, const std::vector<double>& diagonal) {
  const std::vector<Index> chosen = draw(diagonal, std::min<Index>(pivot_block, k.samples()), 0.5);
  if (chosen.empty()) return 0;
  const Matrix<double> columns = k.columns(chosen);
  const Index entries = columns.rows() * columns.cols();
  const double sum = std::accumulate(columns.data(), columns.data() + entries, 0.0,
                                     [](double total, double entry) { return total + std::abs(entry); });
  return sum / static_cast<double>(columns.cols());
}

/// Whether one more column saves more multiply-adds than it costs. With ℓ the largest remaining eigenvalue, estimated
/// by the trace that each of the last columns removed, κ = 1 + ℓ/c′, and about 7√κ iterations reduce the residual to
/// 1e-6. If eigenvalues decay as 1/rank, one column lowers κ − 1 by (κ − 1)/rank. It costs its entries and two products
/// with the other columns.
bool saves_work(const GramMatrix& k, Index rank, double taken, double shift) {
  const auto n = static_cast<double>(k.samples());
  const double excess = taken / shift;
  const double saved = 7 * excess / (2 * std::sqrt(1 + excess) * static_cast<double>(rank)) * n * n / 2;
  return saved * k.entry_cost() > n * (2 * static_cast<double>(rank) + k.entry_cost());
}

/// Returns the largest rank for which L, c′I + LᵀL and another matrix of the latter size fit into memory.
Index rank_within(std::size_t memory, Index samples, std::size_t number_bytes) {
  const auto n = static_cast<double>(number_bytes) * static_cast<double>(samples + 2 * pivot_block);
  const auto square = static_cast<double>(sizeof(double) + number_bytes);
  return static_cast<Index>((std::sqrt(n * n + 4 * square * static_cast<double>(memory)) - n) / (2 * square));
}

bool grow(const GramMatrix& k, LowRank& l, std::vector<double>& left, Index columns) {
  const Random random(0, static_cast<std::uint64_t>(l.rank()));
  const std::vector<Index> chosen = draw(left, columns, random.uniform(0));
  const Index count = std::ssize(chosen);
  if (count == 0) return false;
  const Index n = k.samples();
  Matrix<double> c = k.columns(chosen);
  l.take_from(c, chosen);
  Matrix<double> square(count, count, Content::unset);
  double trace = 0;
  for (Index i = 0; i < count; ++i) {
    std::copy_n(c.view().row(chosen[static_cast<std::size_t>(i)]), count, square.view().row(i));
    trace += square(i, i);
  }
  // Regularises against duplicates among the chosen samples and float32 rounding.
  const double regularisation = l.single() ? 1e-6 : 1e-12;
  for (Index j = 0; j < count; ++j) square(j, j) += regularisation * trace;
  if (host::cholesky(square.view()) != 0) return false;
  host::solve_right(square.view(), c.view());
  l.append(c);
  for (Index i = 0; i < n; ++i) {
    double& own = left[static_cast<std::size_t>(i)];
    for (Index j = 0; j < count; ++j) own -= c(i, j) * c(i, j);
    own = std::max(own, 0.0);
  }
  for (const Index i : chosen) left[static_cast<std::size_t>(i)] = 0;
  return true;
}

}  // namespace

Preconditioner::Preconditioner(const GramMatrix& k, std::span<const double> scale, double shift,
                               const PreconditionerOptions& options)
    : algebra_(k.algebra()) {
  std::vector<double> left = k.diagonal();
  for (double& value : left) value = std::max(value, 0.0);
  const double trace = sum_of(left);
  const bool fits_single = k.precision() == Precision::f32 && shift > least_single_share * norm_estimate(k, left);
  Index target_rank = std::min(options.rank.value_or((k.samples() + 1) / 2), k.samples());
  if (options.memory) {
    target_rank =
        std::min(target_rank, rank_within(*options.memory, k.samples(), fits_single ? sizeof(float) : sizeof(double)));
  }
  l_.emplace(algebra_, k.samples(), std::max<Index>(target_rank, 1), fits_single ? Precision::f32 : Precision::f64);
  ProgressTicker ticker(options.progress, target_rank, "columns of the preconditioner");
  const double least = static_cast<double>(k.samples()) * (fits_single ? 1e-7 : pivot_rounding) * trace;
  double before = trace;
  while (rank_ < target_rank && before > least) {
    if (!grow(k, *l_, left, std::min(pivot_block, target_rank - rank_))) break;
    rank_ = l_->rank();
    ticker.at(rank_);
    const double now = sum_of(left);
    const double mean = now / static_cast<double>(k.samples());
    const double taken = (before - now) / static_cast<double>(pivot_block);
    if (!options.rank && !saves_work(k, rank_, taken, std::max(shift + mean, least_share * trace))) break;
    before = now;
  }
  shift_ = shift + sum_of(left) / static_cast<double>(k.samples());
  if (!(shift_ > least_share * trace)) shift_ = trace > 0 ? least_share * trace : 1.0;
  l_->give_back_unused();
  factor(scale, options.progress);
}

/// Replaces L by S L and factorises c′I + LᵀL.
void Preconditioner::factor(std::span<const double> scale, Progress* progress) {
  if (rank_ == 0) return;
  l_->scale_rows(scale);
  inner_ = l_->inner(shift_);
  if (algebra_.cholesky(inner_, progress) != 0) rank_ = 0;
}

/// Computes (v − L (c′I + LᵀL)⁻¹ Lᵀ v)/c′, each column scaled by its largest entry to fit the range of float32.
void Preconditioner::apply(MatrixView<const double> r, MatrixView<double> z) const {
  std::vector<double> units(static_cast<std::size_t>(r.cols), 0.0);
  for (Index i = 0; i < r.rows; ++i) {
    for (Index j = 0; j < r.cols; ++j) {
      double& unit = units[static_cast<std::size_t>(j)];
      unit = std::max(unit, std::abs(r(i, j)));
    }
  }
  for (double& unit : units) unit = unit > 0 ? unit : 1;
  for (Index i = 0; i < r.rows; ++i) {
    for (Index j = 0; j < r.cols; ++j) z(i, j) = r(i, j) / units[static_cast<std::size_t>(j)];
  }
  if (rank_ > 0) {
    Matrix<double> small = l_->transposed_times(z);
    algebra_.solve_factored(inner_, small.view());
    l_->subtract_times(small, z);
  }
  for (Index i = 0; i < z.rows; ++i) {
    for (Index j = 0; j < z.cols; ++j) z(i, j) *= units[static_cast<std::size_t>(j)] / shift_;
  }
}

std::size_t Preconditioner::bytes() const { return l_->bytes() + inner_.bytes(); }

}  // namespace widelimit
