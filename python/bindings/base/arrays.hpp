#pragma once

#include "python/bindings/base/device_array.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/variant.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

/// Arrays in and out, without a copy in either direction.
namespace widelimit::python {

/// Numbers from Python: float32 or float64, N×D, N×H×W or N×H×W×C, each sample contiguous, samples at any stride.
using DenseArray = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

/// The three arrays of SciPy's compressed sparse rows.
class SparseArray {
 public:
  template <typename T>
  using List = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

  /// Error{input} as SparseView::validate says.
  SparseArray(List<double> values, List<std::int32_t> columns, List<std::int64_t> offsets, Index cols);
  [[nodiscard]] SparseView view() const;

 private:
  List<double> values_;
  List<std::int32_t> columns_;
  List<std::int64_t> offsets_;
  Index cols_;
};

/// Graphs that Python holds; copies share them.
struct GraphArray {
  std::shared_ptr<const Graphs> graphs;
  bool apart = false;  ///< each node is a sample
};

/// Samples from Python.
using SampleArray = std::variant<DenseArray, SparseArray, GraphArray>;
/// A Gram matrix from Python that a solver works on: of an engine, or two dimensions of DenseArray.
using KernelArray = std::variant<DeviceArray, DenseArray>;

/// Borrow the numbers of `x`, which must outlive the view. Error{input} unless `x` is as DenseArray says.
[[nodiscard]] SampleView view_samples(const SampleArray& x);
[[nodiscard]] AnyView view_kernel(const DenseArray& k);
/// Where it lies: on its engine, or, of the host, on the processor with so many threads. Borrows as view_kernel does.
[[nodiscard]] GramMatrix gram_of(const KernelArray& k, std::optional<int> threads);

/// An array on the memory of `values`, which lives until the last array on it is gone.
template <typename T>
nanobind::object as_array(Matrix<T> values, std::initializer_list<Index> dims) {
  auto owned = std::make_unique<Matrix<T>>(std::move(values));
  T* const data = owned->data();
  nanobind::capsule owner(owned.release(), [](void* matrix) noexcept { delete static_cast<Matrix<T>*>(matrix); });
  const std::vector<std::size_t> shape(dims.begin(), dims.end());
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(data, shape.size(), shape.data(), owner));
}

template <typename T>
nanobind::object as_array(Matrix<T> values) {
  const Index rows = values.rows();
  const Index cols = values.cols();
  return as_array(std::move(values), {rows, cols});
}

[[nodiscard]] nanobind::object as_array(AnyMatrix values, std::initializer_list<Index> dims);
[[nodiscard]] nanobind::object as_array(AnyMatrix values);
/// SciPy's csr_array where samples are sparse, GraphArray where they are graphs.
[[nodiscard]] nanobind::object as_array(AnySamples values, std::initializer_list<Index> dims);

/// An array on the memory of a list of numbers.
template <typename T>
nanobind::object as_array(std::vector<T> values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owned->data();
  const std::size_t count = owned->size();
  nanobind::capsule owner(owned.release(), [](void* list) noexcept { delete static_cast<std::vector<T>*>(list); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(data, 1, &count, owner));
}

}  // namespace widelimit::python
