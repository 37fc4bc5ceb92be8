#include "widelimit/finite/layers/tensor.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"

#include <cmath>

namespace widelimit {

namespace {

/// 2^36 doubles, 512 GiB: larger sizes are treated as errors; products of sizes are still far from overflow.
constexpr Index largest = Index{1} << 36;

std::size_t checked_size(Index count, const Shape& shape) {
  if (shape.size() > 0 && count > largest / shape.size()) {
    fail(Code::resource, "activations of {} samples of shape {} do not fit in memory; use fewer samples or channels",
         count, to_string(shape));
  }
  return static_cast<std::size_t>(count * shape.size());
}

template <std::floating_point T, typename In>
void require_dense_memory(const MatrixView<const In>& /*rows*/) {}
/// The first layer of a finite network needs dense input: sparse samples are converted here.
template <std::floating_point T>
void require_dense_memory(const SparseView& rows) {
  require_memory(sizeof(T) * static_cast<double>(rows.rows) * static_cast<double>(rows.cols), std::nullopt,
                 "the dense form of these sparse samples", "take fewer samples, or choose fewer features");
}

template <std::floating_point T, typename In>
void copy_row(const MatrixView<const In>& rows, Index i, T* to) {
  std::copy_n(rows.row(i), rows.cols, to);
}
template <std::floating_point T>
void copy_row(const SparseView& rows, Index i, T* to) {
  expand(rows.row(i), rows.cols, to);
}

}  // namespace

template <std::floating_point T>
Tensor<T>::Tensor(Index count, const Shape& shape)
    : count_(count), shape_(shape), values_(checked_size(count, shape)) {}

template <std::floating_point T>
void Tensor<T>::resize(Index count, const Shape& shape) {
  values_.resize(checked_size(count, shape));
  count_ = count;
  shape_ = shape;
}

template <std::floating_point T>
void Tensor<T>::clear() {
  values_.clear();
}

template <std::floating_point T>
void Tensor<T>::assign(const Tensor& other, const Shape& shape) {
  if (shape.size() != other.shape_.size()) {
    fail(Code::input, "values of shape {} cannot be read with shape {}", to_string(other.shape_), to_string(shape));
  }
  values_ = other.values_;
  count_ = other.count_;
  shape_ = shape;
}

template <std::floating_point T>
Tensor<T>& Tensor<T>::operator+=(const Tensor& other) {
  if (count_ != other.count_ || shape_ != other.shape_) {
    fail(Code::input, "activations of shape {} and {} cannot be added", to_string(shape_), to_string(other.shape_));
  }
  if (on_engine() && other.on_engine() && values_.side() == other.values_.side()) {
    T* const sum = values_.update(values_.side());
    values_.side()->combine(T{1}, sum, T{1}, other.values_.read(values_.side()), size(), sum);
    return *this;
  }
  T* const sum = data();
  const T* const from = other.data();
  for (Index i = 0; i < size(); ++i) sum[i] += from[i];
  return *this;
}

template <std::floating_point T>
Tensor<T> read_samples(const SampleView& samples, const Shape& shape) {
  return std::visit(
      [&](const auto& rows) {
        if (rows.cols != shape.size()) {
          fail(Code::input, "samples of {} values cannot be read with shape {}", rows.cols, to_string(shape));
        }
        require_dense_memory<T>(rows);
        Tensor<T> tensor(rows.rows, shape);
        T* sample = tensor.data();
        for (Index i = 0; i < rows.rows; ++i, sample += rows.cols) {
          copy_row(rows, i, sample);
          for (Index k = 0; k < rows.cols; ++k) {
            if (!std::isfinite(sample[k])) fail(Code::input, "value {} of sample {} is not finite", k, i);
          }
        }
        return tensor;
      },
      samples.rows({"networks of finite width", "graph networks, such as gntk:4, have kernels only"}));
}

template class Tensor<float>;
template class Tensor<double>;
template Tensor<float> read_samples(const SampleView& samples, const Shape& shape);
template Tensor<double> read_samples(const SampleView& samples, const Shape& shape);

}  // namespace widelimit
