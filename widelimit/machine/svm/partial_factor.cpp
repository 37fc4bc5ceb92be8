#include "widelimit/machine/svm/partial_factor.hpp"

#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

template <std::floating_point T>
PartialFactor<T>::PartialFactor(GramColumns<T>& columns) : columns_(columns) {
  for (Index i = 0; i < columns.size(); ++i) {
    const double own = columns.diagonal(i);
    inverse_.push_back(own > std::numeric_limits<double>::min() ? 1 / own : 0);
    left_.push_back(inverse_.back() > 0 ? 1 : 0);
  }
  const double samples = static_cast<double>(columns.size());
  least_ = 4 * std::sqrt(samples) * static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <std::floating_point T>
void PartialFactor<T>::extend(Index most, const std::function<void()>& on_progress) {
  const Index n = columns_.size();
  while (!complete_ && rank_ < std::min(most, n)) {
    on_progress();
    const auto pivot = static_cast<Index>(std::max_element(left_.begin(), left_.end()) - left_.begin());
    const double value = left_[usize(pivot)];
    if (value <= least_) break;
    std::vector<double> of_pivot;
    for (Index k = 0; k < rank_; ++k) of_pivot.push_back(transposed_[usize(k * n + pivot)]);
    const T* column = columns_.column(pivot);
    transposed_.insert(transposed_.end(), column, column + n);
    const std::span<double> added(transposed_.data() + rank_ * n, usize(n));
    if (rank_ > 0) host::multiply(-1, Transpose::yes, {transposed_.data(), rank_, n, n}, of_pivot, 1, added);
    const double root = std::sqrt(value / inverse_[usize(pivot)]);
    for (Index i = 0; i < n; ++i) {
      double& entry = added[usize(i)];
      entry = i == pivot ? root : entry / root;
      left_[usize(i)] = std::max(0.0, left_[usize(i)] - entry * entry * inverse_[usize(i)]);
    }
    left_[usize(pivot)] = 0;
    ++rank_;
  }
  complete_ = complete_ || left_.empty() || *std::max_element(left_.begin(), left_.end()) <= least_;
}

template <std::floating_point T>
Matrix<double> PartialFactor<T>::rows() const {
  const Index n = columns_.size();
  Matrix<double> result(n, rank_, Content::unset);
  for (Index k = 0; k < rank_; ++k) {
    for (Index i = 0; i < n; ++i) result(i, k) = transposed_[usize(k * n + i)];
  }
  return result;
}

template class PartialFactor<float>;
template class PartialFactor<double>;

}  // namespace widelimit
