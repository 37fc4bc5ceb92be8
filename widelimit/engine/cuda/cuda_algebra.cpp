#include "widelimit/engine/cuda/cuda_algebra.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit::cuda {

namespace {

/// Entries converted to float64 per strip: at most 512 MiB.
constexpr Index converted_entries = Index{1} << 26;
/// Maximum number of rows summed in float32.
constexpr Index single_rows = 4096;
/// Columns of v per call of a precise product.
constexpr Index precise_columns = 16;
constexpr Index pivot_block = 64;

/// Calls body(first row, rows) for strips of a matrix, with an interruption point before each.
template <typename Body>
void by_strips(Index rows, Index height, const Body& body) {
  for (Index begin = 0; begin < rows; begin += height) {
    interruption_point();
    body(begin, std::min(height, rows - begin));
  }
}

Array rows_of(const Array& a, Index begin, Index count) { return block(a, begin, 0, count, a.cols); }

/// Returns work(count), with half the count whenever memory does not suffice.
template <typename Work>
auto with_less_memory(Index& count, const Work& work) {
  while (true) {
    try {
      return work(count);
    } catch (const Error& error) {
      if (error.code() != Code::resource || count <= 1) throw;
      count /= 2;
    }
  }
}

}  // namespace

EngineMatrix CudaAlgebra::allocate(Index rows, Index cols, Precision precision) const {
  return cuda::allocate(device_, rows, cols, precision);
}

EngineMatrix CudaAlgebra::hold(const AnyView& host) const {
  return std::visit(
      [&]<typename T>(const MatrixView<const T>& view) {
        EngineMatrix result = allocate(view.rows, view.cols, precision_of<T>);
        upload(*device_, view, of(result));
        return result;
      },
      host);
}

EngineMatrix CudaAlgebra::uploaded(MatrixView<const double> host, Precision precision) const {
  EngineMatrix result = allocate(host.rows, host.cols, precision);
  upload(*device_, host, of(result));
  return result;
}

EngineMatrix CudaAlgebra::most_rows(Index rows, Index cols) const {
  return with_less_memory(rows, [&](Index count) { return allocate(count, cols, Precision::f64); });
}

EngineMatrix CudaAlgebra::in_double(const EngineMatrix& a) const {
  return a.precision() == Precision::f64 ? a : copy_of(a, Precision::f64);
}

void CudaAlgebra::copy(const EngineMatrix& a, EngineMatrix& to) const { device_->convert(of(a), target(to)); }

void CudaAlgebra::read(const EngineMatrix& a, MatrixView<float> host) const { download(*device_, of(a), host); }

void CudaAlgebra::read(const EngineMatrix& a, MatrixView<double> host) const { download(*device_, of(a), host); }

void CudaAlgebra::write(MatrixView<const double> host, EngineMatrix& a) const { upload(*device_, host, target(a)); }

EngineMatrix CudaAlgebra::gather(const EngineMatrix& a, std::span<const Index> rows,
                                 std::span<const Index> cols) const {
  EngineMatrix result = allocate(std::ssize(rows), std::ssize(cols), a.precision());
  device_->gather(of(a), rows, cols, of(result));
  return result;
}

std::vector<double> CudaAlgebra::diagonal(const EngineMatrix& a) const {
  const Array entries = of(a);
  std::vector<double> result(usize(a.rows()));
  device_->diagonal(entries, result.data());
  return result;
}

Symmetry CudaAlgebra::symmetry(const EngineMatrix& k, double allowed) const {
  const auto [equal, invalid_entry] = device_->symmetry(of(k), allowed);
  Symmetry result{.equal = equal, .invalid_entry = std::nullopt};
  if (invalid_entry.first >= 0) result.invalid_entry = invalid_entry;
  return result;
}

std::uint64_t CudaAlgebra::checksum(const EngineMatrix& k) const { return device_->checksum(of(k)); }

void CudaAlgebra::multiply(Transpose op, const EngineMatrix& a, MatrixView<const double> v,
                           MatrixView<double> out) const {
  const Array entries = of(a);
  const EngineMatrix right = uploaded(v, Precision::f64);
  const EngineMatrix result = allocate(out.rows, out.cols, Precision::f64);
  if (a.precision() == Precision::f64) {
    device_->product(1, op, entries, Transpose::no, of(right), 0, of(result));
    return download(*device_, of(result), out);
  }
  if (a.rows() == 0) device_->clear(of(result));
  const Index height =
      std::clamp<Index>(converted_entries / std::max<Index>(1, a.cols()), 1, std::max<Index>(1, a.rows()));
  const EngineMatrix strip = most_rows(height, a.cols());
  by_strips(a.rows(), strip.rows(), [&](Index begin, Index count) {
    const Array rows = rows_of(of(strip), 0, count);
    device_->convert(rows_of(entries, begin, count), rows);
    if (op == Transpose::no) {
      device_->product(1, op, rows, Transpose::no, of(right), 0, rows_of(of(result), begin, count));
    } else {
      device_->product(1, op, rows, Transpose::no, rows_of(of(right), begin, count), begin == 0 ? 0 : 1, of(result));
    }
  });
  download(*device_, of(result), out);
}

void CudaAlgebra::multiply_single(Transpose op, const EngineMatrix& a, MatrixView<const double> v,
                                  MatrixView<double> out) const {
  const Array entries = of(a);
  const EngineMatrix right = uploaded(v, Precision::f32);
  const EngineMatrix product = allocate(out.rows, out.cols, Precision::f32);
  if (op == Transpose::no) {
    device_->product(1, op, entries, Transpose::no, of(right), 0, of(product));
    return download(*device_, of(product), out);
  }
  const EngineMatrix sum = allocate(out.rows, out.cols, Precision::f64);
  device_->clear(of(sum));
  by_strips(a.rows(), single_rows, [&](Index begin, Index count) {
    device_->product(1, op, rows_of(entries, begin, count), Transpose::no, rows_of(of(right), begin, count), 0,
                     of(product));
    device_->add(of(product), of(sum));
  });
  download(*device_, of(sum), out);
}

void CudaAlgebra::multiply_precisely(const EngineMatrix& k, MatrixView<const double> v, MatrixView<double> out,
                                     Progress* progress) const {
  const EngineMatrix right = uploaded(v, Precision::f64);
  const EngineMatrix result = allocate(out.rows, out.cols, Precision::f64);
  ProgressTicker ticker(progress, v.cols, "columns of a product");
  Index most = precise_columns;
  for (Index first = 0; first < v.cols; first += most) {
    ticker.at(first);
    with_less_memory(most, [&](Index columns) {
      const Index count = std::min(columns, v.cols - first);
      device_->multiply_precisely(of(k), of(right.block(0, first, v.rows, count)),
                                  of(result.block(0, first, out.rows, count)));
    });
  }
  download(*device_, of(result), out);
}

void CudaAlgebra::multiply_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const {
  const EngineMatrix x = uploaded(b, Precision::f64);
  device_->multiply_triangle(Triangle::lower, op, of(l), of(x));
  download(*device_, of(x), b);
}

void CudaAlgebra::solve_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const {
  const EngineMatrix x = uploaded(b, Precision::f64);
  device_->solve_triangle(Triangle::lower, op, of(l), of(x));
  download(*device_, of(x), b);
}

void CudaAlgebra::product(double alpha, Transpose op_a, const EngineMatrix& a, Transpose op_b, const EngineMatrix& b,
                          double beta, EngineMatrix& c) const {
  device_->product(alpha, op_a, of(a), op_b, of(b), beta, target(c));
}

double CudaAlgebra::scaled(const EngineMatrix& k, std::span<const double> scale, std::span<const double> shift,
                           EngineMatrix& out, Progress* progress) const {
  stop_if_requested(progress);
  return device_->scaled(of(k), scale, shift, target(out));
}

void CudaAlgebra::add_inner(const Array& x, std::span<const double> weights, bool whole, double beta,
                            const Array& out) const {
  if (weights.empty()) {
    if (whole) return device_->product(1, Transpose::yes, x, Transpose::no, x, beta, out);
    return device_->self_product(x, beta, out);
  }
  const EngineMatrix memory = allocate(x.rows, x.cols, x.precision);
  const bool rooted = !whole && std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0; });
  std::vector<double> factors(weights.begin(), weights.end());
  if (rooted) {
    for (double& w : factors) w = std::sqrt(w);
  }
  device_->scale_rows(x, factors, of(memory));
  if (rooted) return device_->self_product(of(memory), beta, out);
  device_->product(1, Transpose::yes, x, Transpose::no, of(memory), beta, out);
}

void CudaAlgebra::inner_product(const EngineMatrix& x, std::span<const double> weights, bool whole,
                                EngineMatrix& out) const {
  const Array rows = of(x);
  const Array result = target(out);
  if (x.precision() == Precision::f64) return add_inner(rows, weights, whole, 0, result);
  const EngineMatrix sum = allocate(x.cols(), x.cols(), Precision::f32);
  device_->clear(result);
  by_strips(x.rows(), single_rows, [&](Index begin, Index count) {
    const auto w = weights.empty() ? weights : weights.subspan(usize(begin), usize(count));
    add_inner(rows_of(rows, begin, count), w, whole, 0, of(sum));
    device_->add(of(sum), result);
  });
}

std::vector<double> CudaAlgebra::column_squares(const EngineMatrix& x, std::span<const double> weights) const {
  std::vector<double> sums(usize(x.cols()));
  device_->column_squares(of(x), weights, sums.data());
  return sums;
}

void CudaAlgebra::scale_rows(EngineMatrix& a, std::span<const double> scale) const {
  const Array rows = rows_of(target(a), 0, std::ssize(scale));
  if (rows.rows > 0) device_->scale_rows(rows, scale, rows);
}

void CudaAlgebra::add_to_diagonal(EngineMatrix& a, std::span<const double> shift) const {
  device_->add_to_diagonal(target(a), shift);
}

double CudaAlgebra::symmetric_norm(const EngineMatrix& a) const { return device_->symmetric_norm(of(a)); }

Index CudaAlgebra::cholesky(EngineMatrix& a, Progress* progress) const {
  ProgressTicker ticker(progress, a.rows(), "rows of a factor");
  return device_->cholesky(target(a), [&](Index rows) { ticker.at(rows); });
}

void CudaAlgebra::solve(Transpose op, const EngineMatrix& u, MatrixView<double> b) const {
  const Array factor = of(u);
  interruption_point();
  // Columns are scaled by their largest entry to avoid overflow of float32.
  Matrix<double> scaled(b.rows, b.cols, Content::unset);
  std::vector<double> unit(usize(b.cols), 1.0);
  if (u.precision() == Precision::f32) {
    for (Index j = 0; j < b.cols; ++j) {
      double largest = 0;
      for (Index i = 0; i < b.rows; ++i) largest = std::max(largest, std::abs(b(i, j)));
      if (largest > 0) unit[usize(j)] = largest;
    }
  }
  for (Index i = 0; i < b.rows; ++i) {
    for (Index j = 0; j < b.cols; ++j) scaled(i, j) = b(i, j) / unit[usize(j)];
  }
  const EngineMatrix x = uploaded(scaled.view(), u.precision());
  device_->solve_triangle(Triangle::upper, op, factor, of(x));
  download(*device_, of(x), b);
  for (Index i = 0; i < b.rows; ++i) {
    for (Index j = 0; j < b.cols; ++j) b(i, j) *= unit[usize(j)];
  }
}

void CudaAlgebra::transpose_upper(EngineMatrix& a) const { device_->transpose_upper(target(a)); }

Index CudaAlgebra::pivoted_cholesky(EngineMatrix& a, double least, std::vector<Index>& order,
                                    Progress* progress) const {
  const Array entries = target(a);
  const Index n = a.rows();
  order.resize(usize(n));
  std::iota(order.begin(), order.end(), Index{0});
  const DeviceBuffer places = DeviceBuffer::of<Index>(device_, order);
  const DeviceBuffer taken(device_, usize(n) * sizeof(double));
  auto* const places_data = static_cast<Index*>(places.data());
  ProgressTicker ticker(progress, n, "pivots");
  Index rank = 0;
  while (rank < n) {
    ticker.at(rank);
    const Index end = std::min(n, rank + pivot_block);
    const Index found =
        device_->pivoted_block(entries, rank, end, least, places_data, static_cast<double*>(taken.data()));
    const bool complete = rank + found == end;
    rank += found;
    if (!complete) break;
  }
  device_->download_bytes(places_data, usize(n) * sizeof(Index), order.data());
  device_->clear_above(of(a.block(0, 0, rank, n)));
  return rank;
}

Inertia CudaAlgebra::inertia(const EngineMatrix& a) const {
  const auto n = usize(a.rows());
  std::vector<double> pivots(n);
  std::vector<int> order(n);
  interruption_point();
  if (!device_->ldl(of(copy_of(a, Precision::f64)), pivots.data(), order.data())) {
    return eigenvalue_signs(eigenvalues(copy_of(a, Precision::f64), nullptr));
  }
  Inertia result;
  for (std::size_t k = 0; k < n; ++k) {
    if (order[k] < 0) {  // a 2 × 2 block with negative determinant
      ++result.negative;
      ++result.positive;
      ++k;
      continue;
    }
    ++(pivots[k] > 0 ? result.positive : pivots[k] < 0 ? result.negative : result.zero);
  }
  return result;
}

std::vector<double> CudaAlgebra::eigenvalues(EngineMatrix a, Progress* progress) const {
  stop_if_requested(progress);
  const EngineMatrix own = in_double(a);
  std::vector<double> values(usize(a.rows()));
  device_->eigen(target(own), false, values.data());
  return values;
}

std::vector<double> CudaAlgebra::eigenvectors(EngineMatrix a, EngineMatrix& vectors, Progress* progress) const {
  stop_if_requested(progress);
  const EngineMatrix own = in_double(a);
  std::vector<double> values(usize(a.rows()));
  device_->eigen(target(own), true, values.data());
  vectors = own;
  return values;
}

}  // namespace widelimit::cuda
