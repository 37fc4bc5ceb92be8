#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/base/types.hpp"
#include "widelimit/engine/values.hpp"

#include <concepts>
#include <span>

namespace widelimit {

/// Activations or signals of `count` samples, N×H×W×C (channels last), with value semantics; initially zero. On an
/// engine with separate memory, data stay there as long as only its layers access them (Values).
template <std::floating_point T>
class Tensor {
 public:
  Tensor() = default;
  Tensor(Index count, const Shape& shape);

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] Index size() const { return count_ * shape_.size(); }
  /// Number of rows of the matrix of all samples stacked, positions × channels each.
  [[nodiscard]] Index rows() const { return count_ * shape_.positions(); }
  [[nodiscard]] T* data() { return values_.data(); }
  [[nodiscard]] const T* data() const { return values_.data(); }
  [[nodiscard]] std::span<T> values() { return {data(), static_cast<std::size_t>(size())}; }
  [[nodiscard]] std::span<const T> values() const { return {data(), static_cast<std::size_t>(size())}; }
  [[nodiscard]] T* sample(Index i) { return data() + i * shape_.size(); }
  [[nodiscard]] const T* sample(Index i) const { return data() + i * shape_.size(); }
  /// Returns `count` samples from `first` on as one matrix of stacked positions × channels.
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

  /// Changes the size. Memory is reused, so that repeated training steps of equal size do not allocate; values are
  /// undefined until written.
  void resize(Index count, const Shape& shape);
  void clear();  ///< sets all values to 0
  /// Copies the values of `other` and reshapes them to `shape` of equal size.
  void assign(const Tensor& other, const Shape& shape);
  void assign(const Tensor& other) { assign(other, other.shape_); }
  Tensor& operator+=(const Tensor& other);

  /// Access in the memory of an engine, for reading, overwriting or modifying; all samples as one matrix.
  using Side = typename Values<T>::Side;
  [[nodiscard]] MatrixView<const T> read(const Side& side) const { return matrix_of(values_.read(side)); }
  [[nodiscard]] MatrixView<T> write(const Side& side) { return matrix_of(values_.write(side)); }
  [[nodiscard]] MatrixView<T> update(const Side& side) { return matrix_of(values_.update(side)); }
  /// Returns whether an engine holds the current data.
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

/// Reads samples as network input; `shape` must have as many values as a sample. Throws Error{input} with the sample
/// and the index of a value that is not finite in T.
template <std::floating_point T>
[[nodiscard]] Tensor<T> read_samples(const SampleView& samples, const Shape& shape);

}  // namespace widelimit
