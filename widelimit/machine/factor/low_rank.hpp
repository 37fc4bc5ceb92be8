#pragma once

#include "widelimit/base/matrix.hpp"

#include <concepts>
#include <span>
#include <vector>

namespace widelimit {

/// L of a Gram matrix's low-rank part L Lᵀ, in float32 or float64, one block of columns after the other. Sums over
/// samples are float64 either way: float32 rounds within a few thousand rows only.
template <std::floating_point T>
class LowRank {
 public:
  LowRank(Index samples, Index columns) : l_(samples, columns, Content::unset), rank_(0) {}

  [[nodiscard]] Index rank() const { return rank_; }
  [[nodiscard]] Index samples() const { return l_.rows(); }
  /// c −= L L(chosen)ᵀ, c being columns `chosen` of the matrix.  O(n·rank·chosen).
  void take_from(Matrix<double>& c, std::span<const Index> chosen) const;
  /// Columns more; what was rounded off is not part of them.
  void append(Matrix<double>& c);
  /// Gives back the memory of columns that did not come, where they are half or more.
  void give_back_unused();
  /// Row i times scale[i].
  void scale_rows(std::span<const double> scale);
  /// The upper triangle of LᵀL, added to `inner`.  O(n·rank²).
  void add_inner(Matrix<double>& inner) const;
  /// Lᵀr and z −= L s.  O(n·rank·columns).
  [[nodiscard]] Matrix<double> transposed_times(MatrixView<const double> r) const;
  void subtract_times(const Matrix<double>& s, MatrixView<double> z) const;
  [[nodiscard]] std::size_t bytes() const { return sizeof(T) * static_cast<std::size_t>(l_.rows() * l_.cols()); }

 private:
  [[nodiscard]] MatrixView<const T> part(Index begin, Index count) const {
    return l_.view().block(begin, 0, count, rank_);
  }

  Matrix<T> l_;  ///< samples × as many columns as were asked for, of which rank_ count
  Index rank_;
};

}  // namespace widelimit
