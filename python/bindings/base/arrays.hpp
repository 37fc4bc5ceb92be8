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

/// Conversion of arrays between C++ and Python, without a copy in either direction.
namespace widelimit::python {

/// A dense array from Python: float32 or float64, N×D, N×H×W or N×H×W×C; each sample is contiguous, the stride between
/// samples is arbitrary.
using DenseArray = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

/// The three arrays of a SciPy CSR matrix.
class SparseArray {
 public:
  template <typename T>
  using List = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

  /// Throws Error{input} under the conditions of SparseView::validate.
  SparseArray(List<double> values, List<std::int32_t> columns, List<std::int64_t> offsets, Index cols);
  [[nodiscard]] SparseView view() const;

 private:
  List<double> values_;
  List<std::int32_t> columns_;
  List<std::int64_t> offsets_;
  Index cols_;
};

/// Graphs owned by Python; copies share ownership.
struct GraphArray {
  std::shared_ptr<const Graphs> graphs;
  bool nodes_as_samples = false;  ///< each node is one sample
};

/// Samples from Python.
using SampleArray = std::variant<DenseArray, SparseArray, GraphArray>;
/// A Gram matrix from Python for a solver: in the memory of an engine, or a two-dimensional DenseArray.
using KernelArray = std::variant<DeviceArray, DenseArray>;

/// Return a view of `x`, which must outlive it. Throw Error{input} if `x` violates the requirements of DenseArray.
[[nodiscard]] SampleView view_samples(const SampleArray& x);
[[nodiscard]] AnyView view_kernel(const DenseArray& k);
/// Returns the matrix on its engine, or, for a host array, on the CPU engine with this number of threads. Borrows the
/// memory as view_kernel does.
[[nodiscard]] GramMatrix gram_of(const KernelArray& k, std::optional<int> threads);

/// Returns a NumPy array that owns the memory of `values`; the last reference frees it.
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
/// Returns a csr_array of SciPy for sparse samples, a GraphArray for graphs.
[[nodiscard]] nanobind::object as_array(AnySamples values, std::initializer_list<Index> dims);

/// Returns a NumPy array that owns the memory of `values`.
template <typename T>
nanobind::object as_array(std::vector<T> values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owned->data();
  const std::size_t count = owned->size();
  nanobind::capsule owner(owned.release(), [](void* list) noexcept { delete static_cast<std::vector<T>*>(list); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(data, 1, &count, owner));
}

}  // namespace widelimit::python
