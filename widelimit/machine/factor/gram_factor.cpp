#include "widelimit/machine/factor/gram_factor.hpp"

#include "widelimit/machine/gram/semidefinite.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

std::vector<double> permuted(const double* values, const std::vector<Index>& order, Index columns) {
  std::vector<double> result;
  result.reserve(order.size() * usize(columns));
  for (const Index i : order) result.insert(result.end(), values + i * columns, values + (i + 1) * columns);
  return result;
}

}  // namespace

GramFactor::GramFactor(const GramMatrix& k, Progress* progress)
    : algebra_(k.algebra()), l_(k.algebra().copy_of(k.matrix(), Precision::f64)), order_(usize(k.samples())) {
  std::iota(order_.begin(), order_.end(), Index{0});
  const double largest = std::max(0.0, *std::max_element(k.diagonal().begin(), k.diagonal().end()));
  const double least = 4 * std::sqrt(static_cast<double>(k.samples())) * k.epsilon() * largest;
  if (factorise_plainly(k, least, progress)) return;
  complete_ = is_semidefinite(k, progress);
  algebra_.copy(k.matrix(), l_);
  rank_ = algebra_.pivoted_cholesky(l_, least, order_, progress);
}

/// Tries Cholesky without pivoting. A factor of K proves semi-definiteness as well as one of K + cD (semidefinite.hpp).
bool GramFactor::factorise_plainly(const GramMatrix& k, double least, Progress* progress) {
  if (algebra_.cholesky(l_, progress) != 0) return false;
  const std::vector<double> pivots = algebra_.diagonal(l_);
  if (!std::all_of(pivots.begin(), pivots.end(), [&](double pivot) { return pivot * pivot > least; })) return false;
  algebra_.transpose_upper(l_);
  rank_ = k.samples();
  return true;
}

/// The first `rank` rows of L are lower triangular, so only half of them is read; if K has full rank they are all of L.
void GramFactor::values(const double* beta, double* h, Index columns) const {
  std::vector<double> product(order_.size() * usize(columns));
  std::copy_n(beta, rank_ * columns, product.begin());
  const Index others = count() - rank_;
  if (rank_ > 0) {
    algebra_.multiply_lower(Transpose::no, triangle(), {product.data(), rank_, columns, columns});
    if (others > 0) {
      algebra_.multiply(Transpose::no, below(), {beta, rank_, columns, columns},
                        {product.data() + rank_ * columns, others, columns, columns});
    }
  }
  const double* from = product.data();
  for (const Index i : order_) {
    std::copy_n(from, columns, h + i * columns);
    from += columns;
  }
}

void GramFactor::pull(const double* r, double* c, Index columns) const {
  if (rank_ == 0) return;
  const std::vector<double> sorted = permuted(r, order_, columns);
  std::copy_n(sorted.begin(), rank_ * columns, c);
  algebra_.multiply_lower(Transpose::yes, triangle(), {c, rank_, columns, columns});
  const Index others = count() - rank_;
  if (others == 0) return;
  Matrix<double> rest(rank_, columns, Content::unset);
  algebra_.multiply(Transpose::yes, below(), {sorted.data() + rank_ * columns, others, columns, columns}, rest.view());
  for (Index i = 0; i < rank_ * columns; ++i) c[i] += rest.data()[i];
}

void GramFactor::coefficients(const double* beta, double* alpha, Index columns) const {
  std::fill_n(alpha, count() * columns, 0.0);
  if (rank_ == 0) return;
  std::vector<double> solved(beta, beta + rank_ * columns);
  algebra_.solve_lower(Transpose::yes, triangle(), {solved.data(), rank_, columns, columns});
  for (Index i = 0; i < rank_; ++i)
    std::copy_n(solved.data() + i * columns, columns, alpha + order_[usize(i)] * columns);
}

std::vector<double> GramFactor::ordered(const std::vector<double>& of_samples) const {
  return permuted(of_samples.data(), order_, 1);
}

}  // namespace widelimit
