#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/base/types.hpp"

#include <concepts>
#include <span>
#include <vector>

namespace widelimit {

/// Activations or signals of `count` samples, N×H×W×C, channels last; a value. Starts at zero.
template <std::floating_point T>
class Tensor {
 public:
  Tensor() = default;
  Tensor(Index count, const Shape& shape) { resize(count, shape); }

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] Index size() const { return count_ * shape_.size(); }
  /// Rows of the matrix positions × channels that all samples form one below the other.
  [[nodiscard]] Index rows() const { return count_ * shape_.positions(); }
  [[nodiscard]] T* data() { return values_.data(); }
  [[nodiscard]] const T* data() const { return values_.data(); }
  [[nodiscard]] std::span<T> values() { return {data(), static_cast<std::size_t>(size())}; }
  [[nodiscard]] std::span<const T> values() const { return {data(), static_cast<std::size_t>(size())}; }
  [[nodiscard]] T* sample(Index i) { return data() + i * shape_.size(); }
  [[nodiscard]] const T* sample(Index i) const { return data() + i * shape_.size(); }
  /// As matrices of positions × channels: `count` samples from `first` on, one below the other.
  [[nodiscard]] MatrixView<T> matrix(Index first, Index count) {
    return {sample(first), count * shape_.positions(), shape_.channels, shape_.channels};
  }
  [[nodiscard]] MatrixView<const T> matrix(Index first, Index count) const {
    return {sample(first), count * shape_.positions(), shape_.channels, shape_.channels};
  }
  [[nodiscard]] MatrixView<T> matrix() { return matrix(0, count_); }
  [[nodiscard]] MatrixView<const T> matrix() const { return matrix(0, count_); }
  [[nodiscard]] T& operator[](Index i) { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const T& operator[](Index i) const { return values_[static_cast<std::size_t>(i)]; }

  /// Another size. Memory is kept, so that a step of training as large as the one before allocates nothing; the
  /// values are to be written before they are read.
  void resize(Index count, const Shape& shape);
  void clear();  ///< all values 0
  /// Size and numbers of `other`, with another shape of equal size.
  void assign(const Tensor& other, const Shape& shape);
  void assign(const Tensor& other) { assign(other, other.shape_); }
  Tensor& operator+=(const Tensor& other);

 private:
  Index count_ = 0;
  Shape shape_;
  std::vector<T> values_;
};

/// Samples as the network reads them; `shape` has as many values as theirs. Error{input} names the sample and the
/// value that is not finite, in T.
template <std::floating_point T>
[[nodiscard]] Tensor<T> read_samples(const SampleView& samples, const Shape& shape);

}  // namespace widelimit
