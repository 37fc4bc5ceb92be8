#include "widelimit/data/array.hpp"

#include "widelimit/data/labels/labels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit {

namespace {

Shape sample_shape(const std::vector<Index>& dims, const std::string& source) {
  switch (dims.size()) {
    case 1:
      return {1, 1, 1};
    case 2:
      return {1, 1, dims[1]};
    case 3:
      return {dims[1], dims[2], 1};
    case 4:
      return {dims[1], dims[2], dims[3]};
    default:
      fail(Code::input, "{}: samples have {} dimensions; expected n, n x d, n x H x W or n x H x W x C", source,
           dims.size());
  }
}

/// Calls visit(row, column, number) for every stored number.
template <typename T, typename Visit>
void each_number(const Matrix<T>& m, const Visit& visit) {
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) visit(i, j, static_cast<double>(m(i, j)));
  }
}
template <typename Visit>
void each_number(const SparseMatrix& m, const Visit& visit) {
  for (Index i = 0; i < m.rows(); ++i) {
    const SparseView::Row row = m.view().row(i);
    for (std::size_t k = 0; k < row.size(); ++k) visit(i, row.columns[k], row.values[k]);
  }
}
template <typename Visit>
void each_number(const Graphs& /*graphs*/, const Visit& /*visit*/) {}  // validated by append_graph

}  // namespace

std::vector<Index> NamedArray::checked_dims() const {
  const auto [rows, cols] =
      std::visit([](const auto& view) { return std::pair<Index, Index>(view.rows, view.cols); }, values);
  if (dims.empty()) return {rows, cols};
  Index product = 1;
  for (const Index size : dims) product *= size;
  if (product != rows * cols) {
    fail(Code::usage, "array '{}': the product of its dimensions is {}, but it holds {} numbers", name, product,
         rows * cols);
  }
  return dims;
}

Index checked_count(std::span<const Index> dims, Index element_bytes, std::size_t available,
                    const std::string& source) {
  constexpr std::size_t addressable = std::size_t{1} << 48;
  const bool empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  const std::size_t most = empty ? addressable : available;
  auto bytes = static_cast<std::size_t>(element_bytes);
  for (const Index size : dims) {
    if (size < 0) fail(Code::input, "{}: a dimension is negative; the header is damaged", source);
    if (size == 0) continue;
    if (bytes > most / static_cast<std::size_t>(size)) {
      fail(Code::input, "{}: the header declares more data than the file holds; the file is damaged or cut short",
           source);
    }
    bytes *= static_cast<std::size_t>(size);
  }
  if (bytes > most) fail(Code::input, "{}: the file is cut short", source);
  return empty ? 0 : static_cast<Index>(bytes) / element_bytes;
}

Index row_size(std::span<const Index> dims) {
  Index size = 1;
  for (std::size_t k = 1; k < dims.size(); ++k) size *= dims[k];
  return size;
}

void require_finite(const AnySamples& values, const std::string& source, Index first) {
  const auto check = [&](Index i, Index j, double value) {
    if (std::isfinite(value)) return;
    fail(Code::input, "{}: sample {}, feature {} is {}; every feature must be a finite number", source, first + i, j,
         value);
  };
  std::visit([&](const auto& m) { each_number(m, check); }, values);
}

Dataset dataset_from_arrays(Array x, const std::optional<Array>& y, const std::string& source) {
  if (!x.texts.empty()) fail(Code::input, "{}: the samples are text; features must be numbers", source);
  if (x.dims.empty()) fail(Code::input, "{}: the samples are a single number, not an array", source);
  Dataset data;
  data.name = source;
  data.shape = sample_shape(x.dims, source);
  if (data.shape.size() == 0) fail(Code::input, "{}: the samples have no features", source);
  data.values = samples_of(std::move(x.values));
  require_finite(data.values, source);
  if (y) set_labels(data, *y, source);
  return data;
}

}  // namespace widelimit
