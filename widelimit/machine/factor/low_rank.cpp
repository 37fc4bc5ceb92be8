#include "widelimit/machine/factor/low_rank.hpp"

#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <algorithm>
#include <utility>

namespace widelimit {

namespace {

/// Rows whose sums float32 may hold.
constexpr Index chunk = 4096;

template <typename T>
Matrix<T> rounded(MatrixView<const double> m) {
  Matrix<T> result(m.rows, m.cols, Content::unset);
  for (Index i = 0; i < m.rows; ++i) {
    std::transform(m.row(i), m.row(i) + m.cols, result.view().row(i), [](double x) { return static_cast<T>(x); });
  }
  return result;
}

}  // namespace

template <std::floating_point T>
void LowRank<T>::take_from(Matrix<double>& c, std::span<const Index> chosen) const {
  if (rank_ == 0) return;
  Matrix<T> rows(std::ssize(chosen), rank_, Content::unset);
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    std::copy_n(l_.view().row(chosen[j]), rank_, rows.view().row(static_cast<Index>(j)));
  }
  Matrix<T> known(std::min(chunk, samples()), c.cols(), Content::unset);
  for (Index begin = 0; begin < samples(); begin += chunk) {
    const Index count = std::min(chunk, samples() - begin);
    cpu::tiled_product<T>(1, Transpose::no, part(begin, count), Transpose::yes, rows.view(), 0,
                          known.view().block(0, 0, count, c.cols()));
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < c.cols(); ++j) c(begin + i, j) -= static_cast<double>(known(i, j));
    }
  }
}

template <std::floating_point T>
void LowRank<T>::append(Matrix<double>& c) {
  for (Index i = 0; i < samples(); ++i) {
    for (Index j = 0; j < c.cols(); ++j) {
      l_(i, rank_ + j) = static_cast<T>(c(i, j));
      c(i, j) = static_cast<double>(l_(i, rank_ + j));
    }
  }
  rank_ += c.cols();
}

template <std::floating_point T>
void LowRank<T>::give_back_unused() {
  if (2 * rank_ > l_.cols()) return;
  Matrix<T> kept(samples(), std::max<Index>(rank_, 1), Content::unset);
  for (Index i = 0; i < samples(); ++i) std::copy_n(l_.view().row(i), rank_, kept.view().row(i));
  l_ = std::move(kept);
}

template <std::floating_point T>
void LowRank<T>::scale_rows(std::span<const double> scale) {
  for (std::size_t i = 0; i < scale.size(); ++i) {
    T* row = l_.view().row(static_cast<Index>(i));
    std::transform(row, row + rank_, row, [&](T x) { return static_cast<T>(scale[i] * static_cast<double>(x)); });
  }
}

template <std::floating_point T>
void LowRank<T>::add_inner(Matrix<double>& inner) const {
  Matrix<T> sum(rank_, rank_, Content::unset);
  for (Index begin = 0; begin < samples(); begin += chunk) {
    cpu::tiled_self_product<T>(1, part(begin, std::min(chunk, samples() - begin)), 0, sum.view());
    for (Index i = 0; i < rank_; ++i) {
      for (Index j = i; j < rank_; ++j) inner(i, j) += static_cast<double>(sum(i, j));
    }
  }
}

template <std::floating_point T>
Matrix<double> LowRank<T>::transposed_times(MatrixView<const double> r) const {
  Matrix<double> result(rank_, r.cols);
  Matrix<T> sum(rank_, r.cols, Content::unset);
  for (Index begin = 0; begin < samples(); begin += chunk) {
    const Index count = std::min(chunk, samples() - begin);
    const Matrix<T> rows = rounded<T>(r.block(begin, 0, count, r.cols));
    cpu::tiled_product<T>(1, Transpose::yes, part(begin, count), Transpose::no, rows.view(), 0, sum.view());
    for (Index i = 0; i < rank_ * r.cols; ++i) result.data()[i] += static_cast<double>(sum.data()[i]);
  }
  return result;
}

template <std::floating_point T>
void LowRank<T>::subtract_times(const Matrix<double>& s, MatrixView<double> z) const {
  const Matrix<T> factors = rounded<T>(s.view());
  Matrix<T> rows(std::min(chunk, samples()), z.cols, Content::unset);
  for (Index begin = 0; begin < samples(); begin += chunk) {
    const Index count = std::min(chunk, samples() - begin);
    cpu::tiled_product<T>(1, Transpose::no, part(begin, count), Transpose::no, factors.view(), 0,
                          rows.view().block(0, 0, count, z.cols));
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < z.cols; ++j) z(begin + i, j) -= static_cast<double>(rows(i, j));
    }
  }
}

template class LowRank<float>;
template class LowRank<double>;

}  // namespace widelimit
