#include "python/bindings/base/arrays.hpp"

#include "python/bindings/base/engines.hpp"

namespace nb = nanobind;

namespace widelimit::python {

namespace {

Shape sample_shape(const DenseArray& x) {
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

/// Throws Error{input} unless each sample is contiguous in row-major order.
void check_contiguous(const DenseArray& x) {
  std::int64_t expected = 1;
  for (std::size_t axis = x.ndim() - 1; axis > 0; --axis) {
    if (x.shape(axis) > 1 && x.stride(axis) != expected) {
      fail(Code::input, "each sample must be contiguous in memory; pass numpy.ascontiguousarray(x)");
    }
    expected *= static_cast<std::int64_t>(x.shape(axis));
  }
}

template <typename T>
MatrixView<const T> rows_of(const DenseArray& x, Index size) {
  return {static_cast<const T*>(x.data()), static_cast<Index>(x.shape(0)), size, static_cast<Index>(x.stride(0))};
}

SampleView view_dense(const DenseArray& x) {
  const Shape shape = sample_shape(x);
  if (x.size() > 0) check_contiguous(x);
  if (x.dtype() == nb::dtype<float>()) return {rows_of<float>(x, shape.size()), shape};
  if (x.dtype() == nb::dtype<double>()) return {rows_of<double>(x, shape.size()), shape};
  fail(Code::input, "samples must be float32 or float64");
}

/// Copies the CSR arrays into csr_array((data, indices, indptr), shape) of SciPy.
nb::object csr_array(const SparseMatrix& m) {
  const SparseView rows = m.view();
  const auto list = [](const auto* first, Index count) {
    return as_array(std::vector<std::decay_t<decltype(*first)>>(first, first + count));
  };
  const nb::tuple parts =
      nb::make_tuple(list(rows.values, m.stored()), list(rows.columns, m.stored()), list(rows.offsets, m.rows() + 1));
  nb::object type;
  try {
    type = nb::module_::import_("scipy.sparse").attr("csr_array");
  } catch (nb::python_error&) {
    fail(Code::input, "sparse samples need SciPy, which is not installed");
  }
  return type(parts, nb::arg("shape") = nb::make_tuple(m.rows(), m.cols()));
}

nb::object array_of(SparseMatrix& m, std::initializer_list<Index> /*dims*/) { return csr_array(m); }
nb::object array_of(Graphs& graphs, std::initializer_list<Index> /*dims*/) {
  return nb::cast(GraphArray{std::make_shared<Graphs>(std::move(graphs))});
}
template <typename T>
nb::object array_of(Matrix<T>& m, std::initializer_list<Index> dims) {
  return as_array(std::move(m), dims);
}

}  // namespace

SparseArray::SparseArray(List<double> values, List<std::int32_t> columns, List<std::int64_t> offsets, Index cols)
    : values_(std::move(values)), columns_(std::move(columns)), offsets_(std::move(offsets)), cols_(cols) {
  const std::size_t stored = values_.size();
  const bool whole = offsets_.size() > 0 && offsets_.data()[0] == 0 &&
                     offsets_.data()[offsets_.size() - 1] == static_cast<std::int64_t>(stored);
  if (!whole || columns_.size() != stored) fail(Code::input, "sparse indices do not match the {} values", stored);
  view().validate("sparse matrix");
}

SparseView SparseArray::view() const {
  return {offsets_.data(), columns_.data(), values_.data(), static_cast<Index>(offsets_.size()) - 1, cols_};
}

SampleView view_samples(const SampleArray& given) {
  if (const auto* sparse = std::get_if<SparseArray>(&given)) {
    const SparseView rows = sparse->view();
    return {rows, {1, 1, rows.cols}};
  }
  if (const auto* given_graphs = std::get_if<GraphArray>(&given)) {
    const Graphs& graphs = *given_graphs->graphs;
    return {given_graphs->nodes_as_samples ? graphs.node_view() : graphs.view(), graphs.shape()};
  }
  return view_dense(*std::get_if<DenseArray>(&given));
}

AnyView view_kernel(const DenseArray& k) { return view_dense(k).dense("Gram matrices"); }

GramMatrix gram_of(const KernelArray& k, std::optional<int> threads) {
  if (const auto* held = std::get_if<DeviceArray>(&k)) return {held->synchronized(), held->engine(threads)};
  return {view_kernel(std::get<DenseArray>(k)), processor(threads)};
}

nb::object as_array(AnyMatrix values, std::initializer_list<Index> dims) {
  return std::visit([&](auto& matrix) { return as_array(std::move(matrix), dims); }, values);
}

nb::object as_array(AnyMatrix values) {
  return std::visit([](auto& matrix) { return as_array(std::move(matrix)); }, values);
}

nb::object as_array(AnySamples values, std::initializer_list<Index> dims) {
  return std::visit([&](auto& m) { return array_of(m, dims); }, values);
}

}  // namespace widelimit::python
