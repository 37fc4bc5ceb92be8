#include "arrays.hpp"

namespace nb = nanobind;

namespace widelimit::python {

namespace {

Shape sample_shape(const SampleArray& x) {
  const auto dim = [&](std::size_t axis) { return static_cast<Index>(x.shape(axis)); };
  switch (x.ndim()) {
    case 2:
      return {1, 1, dim(1)};
    case 3:
      return {dim(1), dim(2), 1};
    case 4:
      return {dim(1), dim(2), dim(3)};
    default:
      fail(Code::input, "samples have {} dimensions; give N×D vectors, N×H×W or N×H×W×C images", x.ndim());
  }
}

/// The last axis must be dense, the one before must step by its length, and so on down to the first axis of a sample.
void check_contiguous(const SampleArray& x) {
  std::int64_t expected = 1;
  for (std::size_t axis = x.ndim() - 1; axis > 0; --axis) {
    if (x.shape(axis) > 1 && x.stride(axis) != expected) {
      fail(Code::input, "the numbers of one sample do not lie side by side; use numpy.ascontiguousarray first");
    }
    expected *= static_cast<std::int64_t>(x.shape(axis));
  }
}

template <typename T>
MatrixView<const T> rows_of(const SampleArray& x, Index size) {
  return {static_cast<const T*>(x.data()), static_cast<Index>(x.shape(0)), size, static_cast<Index>(x.stride(0))};
}

}  // namespace

SampleView view_samples(const SampleArray& x) {
  const Shape shape = sample_shape(x);
  if (x.size() > 0) check_contiguous(x);
  if (x.dtype() == nb::dtype<float>()) return {rows_of<float>(x, shape.size()), shape};
  if (x.dtype() == nb::dtype<double>()) return {rows_of<double>(x, shape.size()), shape};
  fail(Code::input, "samples must be float32 or float64");
}

nb::object as_array(AnyMatrix values, std::initializer_list<Index> dims) {
  return std::visit([&](auto& matrix) { return as_array(std::move(matrix), dims); }, values);
}

nb::object as_array(AnyMatrix values) {
  return std::visit([](auto& matrix) { return as_array(std::move(matrix)); }, values);
}

}  // namespace widelimit::python
