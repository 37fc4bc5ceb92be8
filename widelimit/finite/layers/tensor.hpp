#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/base/types.hpp"
#include "widelimit/engine/values.hpp"

#include <concepts>
#include <span>

namespace widelimit {

/// Activations or signals of `count` samples, N×H×W×C, channels last; a value. Starts at zero. Where an engine has
/// memory of its own, the numbers are there as long as only its layers ask for them (Values).
template <std::floating_point T>
class Tensor {
 public:
  Tensor() = default;
  Tensor(Index count, const Shape& shape);

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
  [[nodiscard]] T& operator[](Index i) { return data()[i]; }
  [[nodiscard]] const T& operator[](Index i) const { return data()[i]; }

  /// Another size. Memory is kept, so that a step of training as large as the one before allocates nothing; the
  /// values are to be written before they are read.
  void resize(Index count, const Shape& shape);
  void clear();  ///< all values 0
  /// Size and numbers of `other`, with another shape of equal size.
  void assign(const Tensor& other, const Shape& shape);
  void assign(const Tensor& other) { assign(other, other.shape_); }
  Tensor& operator+=(const Tensor& other);

  /// In the memory of an engine: to be read, to be overwritten, to be changed; all samples as one matrix.
  using Side = typename Values<T>::Side;
  [[nodiscard]] MatrixView<const T> read(const Side& side) const { return matrix_of(values_.read(side)); }
  [[nodiscard]] MatrixView<T> write(const Side& side) { return matrix_of(values_.write(side)); }
  [[nodiscard]] MatrixView<T> update(const Side& side) { return matrix_of(values_.update(side)); }
  /// Whether an engine has the newest numbers.
  [[nodiscard]] bool on_engine() const { return values_.on_engine(); }

 private:
  template <typename Number>
  [[nodiscard]] MatrixView<Number> matrix_of(Number* numbers) const {
    return {numbers, rows(), shape_.channels, shape_.channels};
  }

  Index count_ = 0;
  Shape shape_;
  Values<T> values_;
};

/// Samples as the network reads them; `shape` has as many values as theirs. Error{input} names the sample and the
/// value that is not finite, in T.
template <std::floating_point T>
[[nodiscard]] Tensor<T> read_samples(const SampleView& samples, const Shape& shape);

}  // namespace widelimit
