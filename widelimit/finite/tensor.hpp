#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/base/types.hpp"

#include <vector>

namespace widelimit {

/// Activations or signals of `count` samples, N×H×W×C, channels last; a value. Starts at zero.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Index count, const Shape& shape);

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] Index size() const { return count_ * shape_.size(); }
  /// Rows of the matrix positions × channels that all samples form one below the other.
  [[nodiscard]] Index rows() const { return count_ * shape_.positions(); }
  [[nodiscard]] double* data() { return values_.data(); }
  [[nodiscard]] const double* data() const { return values_.data(); }
  [[nodiscard]] double* sample(Index i) { return data() + i * shape_.size(); }
  [[nodiscard]] const double* sample(Index i) const { return data() + i * shape_.size(); }
  [[nodiscard]] double& operator[](Index i) { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] double operator[](Index i) const { return values_[static_cast<std::size_t>(i)]; }

  /// The same numbers seen with another shape of equal size.
  void reshape(const Shape& shape);
  Tensor& operator+=(const Tensor& other);

 private:
  Index count_ = 0;
  Shape shape_;
  std::vector<double> values_;
};

/// Samples in double as the network reads them; `shape` has as many values as theirs. Error{input} names the sample
/// and the value that is not finite.
[[nodiscard]] Tensor read_samples(const SampleView& samples, const Shape& shape);

}  // namespace widelimit
