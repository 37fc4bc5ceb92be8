#include "widelimit/machine/factor/low_rank.hpp"

#include <algorithm>
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

}  // namespace widelimit
