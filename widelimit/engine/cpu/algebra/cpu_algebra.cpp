#include "widelimit/engine/cpu/algebra/cpu_algebra.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/engine/cpu/algebra/band_family.hpp"
#include "widelimit/engine/cpu/algebra/bunch_kaufman.hpp"
#include "widelimit/engine/cpu/algebra/cut_product.hpp"
#include "widelimit/engine/cpu/algebra/gram_passes.hpp"
#include "widelimit/engine/cpu/algebra/pivoted_cholesky.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"
#include "widelimit/engine/cpu/algebra/tridiagonal.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace widelimit::cpu {

namespace {

/// Rows converted to float64 at a time: enough for efficient products, little memory relative to the matrix.
constexpr Index product_strip = 256;
/// Maximum number of rows summed in float32.
constexpr Index single_rows = 4096;
constexpr Index gathered_rows = 64;

template <typename Body>
auto with_entries(const EngineMatrix& a, const Body& body) {
  return std::visit(body, entries_of(a));
}
template <typename Body>
auto with_writable(EngineMatrix& a, const Body& body) {
  return a.precision() == Precision::f32 ? body(writable<float>(a)) : body(writable<double>(a));
}

/// Short rows of a wide matrix count as a page, since each may touch a new one.
template <typename From, typename To>
void convert(MatrixView<const From> from, MatrixView<To> to) {
  constexpr Index page = 1024;
  interruptible_rows(from.rows, std::max(from.cols, page), [&](Index i) {
    std::transform(from.row(i), from.row(i) + from.cols, to.row(i), [](From x) { return static_cast<To>(x); });
  });
}

template <typename To, typename From>
Matrix<To> converted(MatrixView<const From> from) {
  Matrix<To> result(from.rows, from.cols, Content::unset);
  convert(from, result.view());
  return result;
}

Matrix<double> double_copy(const EngineMatrix& a) {
  return with_entries(a, [](const auto& view) { return converted<double>(view); });
}

/// Moves the matrix out if the handle covers all of an owned matrix, else copies it.
Matrix<double> taken(const EngineMatrix& a) {
  auto* memory = dynamic_cast<HostMemory*>(a.memory());
  auto* owned = memory != nullptr ? std::get_if<Matrix<double>>(&memory->owned) : nullptr;
  const bool whole = owned != nullptr && owned->rows() == a.rows() && owned->cols() == a.cols() && a.rows() > 0;
  return whole ? std::move(*owned) : double_copy(a);
}

/// out = op(a)·v for a float32 a; each thread converts one strip of rows or columns to float64 at a time.
void multiply_converted(Transpose op, MatrixView<const float> a, MatrixView<const double> v, MatrixView<double> out,
                        int threads) {
  parallel_for((out.rows + product_strip - 1) / product_strip, threads, [&](Index strip) {
    const Index begin = strip * product_strip;
    const Index count = std::min(product_strip, out.rows - begin);
    const MatrixView<double> to = out.block(begin, 0, count, out.cols);
    if (op == Transpose::no) {
      const Matrix<double> rows = converted<double>(a.block(begin, 0, count, a.cols));
      gemm<double>(1, Transpose::no, rows.view(), Transpose::no, v, 0, to);
      return;
    }
    for (Index i = 0; i < count; ++i) std::fill_n(to.row(i), to.cols, 0.0);
    for (Index row = 0; row < a.rows; row += product_strip) {
      const Index height = std::min(product_strip, a.rows - row);
      const Matrix<double> block = converted<double>(a.block(row, begin, height, count));
      gemm<double>(1, Transpose::yes, block.view(), Transpose::no, v.block(row, 0, height, v.cols), 1, to);
    }
  });
}

double column_maximum(MatrixView<const double> x, Index column) {
  double largest = 0;
  for (Index i = 0; i < x.rows; ++i) largest = std::max(largest, std::abs(x(i, column)));
  return largest;
}

/// xᵀ diag(w) x + beta·out over some rows: as a self-product of √w x if one triangle suffices and no w is negative.
template <typename T>
void add_inner(MatrixView<const T> x, std::span<const double> w, bool whole, T beta, MatrixView<T> out, int threads) {
  if (w.empty() && !whole) return tiled_self_product<T>(1, x, beta, out, threads);
  const bool rooted = !whole && std::all_of(w.begin(), w.end(), [](double value) { return value >= 0; });
  Matrix<T> scaled(x.rows, x.cols, Content::unset);
  for (Index i = 0; i < x.rows; ++i) {
    const double weight = factor_at(w, i);
    const auto by = static_cast<T>(rooted ? std::sqrt(weight) : weight);
    std::transform(x.row(i), x.row(i) + x.cols, scaled.view().row(i), [by](T entry) { return by * entry; });
  }
  if (rooted) return tiled_self_product<T>(1, scaled.view(), beta, out, threads);
  tiled_product<T>(1, Transpose::yes, x, Transpose::no, scaled.view(), beta, out, threads);
}

}  // namespace

EngineMatrix CpuAlgebra::allocate(Index rows, Index cols, Precision precision) const {
  return precision == Precision::f32 ? owned(Matrix<float>(rows, cols, Content::unset))
                                     : owned(Matrix<double>(rows, cols, Content::unset));
}

EngineMatrix CpuAlgebra::hold(const AnyView& host) const { return lent(host, false); }

std::optional<EngineMatrix> CpuAlgebra::over(const AnyView& host) const { return lent(host, true); }

std::optional<AnyView> CpuAlgebra::host_view(const EngineMatrix& a) const { return entries_of(a); }

void CpuAlgebra::copy(const EngineMatrix& a, EngineMatrix& to) const {
  with_entries(a, [&](const auto& from) { with_writable(to, [&](const auto& out) { convert(from, out); }); });
}

void CpuAlgebra::read(const EngineMatrix& a, MatrixView<float> host) const {
  with_entries(a, [&](const auto& from) { convert(from, host); });
}

void CpuAlgebra::read(const EngineMatrix& a, MatrixView<double> host) const {
  with_entries(a, [&](const auto& from) { convert(from, host); });
}

void CpuAlgebra::write(MatrixView<const double> host, EngineMatrix& a) const {
  with_writable(a, [&](const auto& to) { convert(host, to); });
}

EngineMatrix CpuAlgebra::gather(const EngineMatrix& a, std::span<const Index> rows, std::span<const Index> cols) const {
  return with_entries(a, [&]<typename T>(const MatrixView<const T>& from) {
    Matrix<T> part(std::ssize(rows), std::ssize(cols), Content::unset);
    parallel_for((part.rows() + gathered_rows - 1) / gathered_rows, team(part.rows(), part.cols()), [&](Index task) {
      for (Index i = task * gathered_rows; i < std::min(part.rows(), (task + 1) * gathered_rows); ++i) {
        const T* row = from.row(rows[usize(i)]);
        T* to = part.view().row(i);
        for (const Index j : cols) *to++ = row[j];
      }
    });
    return owned(std::move(part));
  });
}

std::vector<double> CpuAlgebra::diagonal(const EngineMatrix& a) const {
  std::vector<double> result;
  result.reserve(usize(a.rows()));
  with_entries(a, [&](const auto& k) {
    for (Index i = 0; i < k.rows; ++i) result.push_back(static_cast<double>(k(i, i)));
  });
  return result;
}

Symmetry CpuAlgebra::symmetry(const EngineMatrix& k, double allowed) const {
  return with_entries(k, [&](const auto& view) { return symmetry_of(view, allowed, threads_); });
}

std::uint64_t CpuAlgebra::checksum(const EngineMatrix& k) const {
  return with_entries(k, [&](const auto& view) { return checksum_of(view, threads_); });
}

void CpuAlgebra::multiply(Transpose op, const EngineMatrix& a, MatrixView<const double> v,
                          MatrixView<double> out) const {
  if (a.precision() == Precision::f32) return multiply_converted(op, constant<float>(a), v, out, team(a));
  tiled_product<double>(1, op, constant<double>(a), Transpose::no, v, 0, out, team(a));
}

void CpuAlgebra::multiply_single(Transpose op, const EngineMatrix& a, MatrixView<const double> v,
                                 MatrixView<double> out) const {
  const MatrixView<const float> rows = constant<float>(a);
  const bool plain = op == Transpose::no;
  const Matrix<float> factors = plain ? converted<float>(v) : Matrix<float>();
  if (!plain) {
    for (Index i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, 0.0);
  }
  for (Index begin = 0; begin < a.rows(); begin += single_rows) {
    const Index count = std::min(single_rows, a.rows() - begin);
    const MatrixView<const float> part = rows.block(begin, 0, count, a.cols());
    Matrix<float> product(plain ? count : a.cols(), v.cols, Content::unset);
    if (plain) {
      tiled_product<float>(1, op, part, Transpose::no, factors.view(), 0, product.view(), team(a));
      convert(MatrixView<const float>(product.view()), out.block(begin, 0, count, out.cols));
      continue;
    }
    const Matrix<float> right = converted<float>(v.block(begin, 0, count, v.cols));
    tiled_product<float>(1, op, part, Transpose::no, right.view(), 0, product.view(), team(a));
    for (Index i = 0; i < out.rows; ++i) {
      for (Index j = 0; j < out.cols; ++j) out(i, j) += static_cast<double>(product(i, j));
    }
  }
}

void CpuAlgebra::multiply_precisely(const EngineMatrix& k, MatrixView<const double> v, MatrixView<double> out,
                                    Progress* progress) const {
  with_entries(k, [&](const auto& view) { multiply_compensated(view, v, out, threads_, progress); });
}

void CpuAlgebra::multiply_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const {
  cpu::multiply_lower(constant<double>(l), op, b);
}

void CpuAlgebra::solve_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const {
  cpu::solve_lower(constant<double>(l), op, b);
}

void CpuAlgebra::product(double alpha, Transpose op_a, const EngineMatrix& a, Transpose op_b, const EngineMatrix& b,
                         double beta, EngineMatrix& c) const {
  with_writable(c, [&]<typename T>(const MatrixView<T>& out) {
    cut_product<T>(static_cast<T>(alpha), op_a, constant<T>(a), op_b, constant<T>(b), static_cast<T>(beta), out,
                   threads_);
  });
}

double CpuAlgebra::scaled(const EngineMatrix& k, std::span<const double> scale, std::span<const double> shift,
                          EngineMatrix& out, Progress* progress) const {
  return with_entries(k, [&](const auto& from) {
    return with_writable(out, [&](const auto& to) { return fill_scaled(from, scale, shift, to, team(k), progress); });
  });
}

void CpuAlgebra::inner_product(const EngineMatrix& x, std::span<const double> weights, bool whole,
                               EngineMatrix& out) const {
  const MatrixView<double> to = writable<double>(out);
  with_entries(x, [&]<typename T>(const MatrixView<const T>& rows) {
    Matrix<T> sum(std::is_same_v<T, float> ? x.cols() : 0, std::is_same_v<T, float> ? x.cols() : 0, Content::unset);
    for (Index begin = 0; begin < x.rows() || begin == 0; begin += single_rows) {
      const Index count = std::min(single_rows, x.rows() - begin);
      const auto part = rows.block(begin, 0, count, x.cols());
      const auto w = weights.empty() ? weights : weights.subspan(usize(begin), usize(count));
      if constexpr (std::is_same_v<T, double>) {
        add_inner<double>(part, w, whole, begin == 0 ? 0 : 1, to, team(x));
      } else {
        add_inner<float>(part, w, whole, 0, sum.view(), team(x));
        for (Index i = 0; i < to.rows; ++i) {
          for (Index j = whole ? 0 : i; j < to.cols; ++j) {
            to(i, j) = (begin == 0 ? 0.0 : to(i, j)) + static_cast<double>(sum(i, j));
          }
        }
      }
    }
  });
}

std::vector<double> CpuAlgebra::column_squares(const EngineMatrix& x, std::span<const double> weights) const {
  std::vector<double> sums(usize(x.cols()));
  with_entries(x, [&](const auto& rows) {
    for (Index i = 0; i < rows.rows; ++i) {
      const double w = factor_at(weights, i);
      const auto* row = rows.row(i);
      for (Index j = 0; j < rows.cols; ++j)
        sums[usize(j)] += w * static_cast<double>(row[j]) * static_cast<double>(row[j]);
    }
  });
  return sums;
}

void CpuAlgebra::scale_rows(EngineMatrix& a, std::span<const double> scale) const {
  with_writable(a, [&]<typename T>(const MatrixView<T>& rows) {
    for (std::size_t i = 0; i < scale.size(); ++i) {
      T* row = rows.row(static_cast<Index>(i));
      std::transform(row, row + rows.cols, row, [&](T x) { return static_cast<T>(scale[i] * static_cast<double>(x)); });
    }
  });
}

void CpuAlgebra::add_to_diagonal(EngineMatrix& a, std::span<const double> shift) const {
  with_writable(a, [&]<typename T>(const MatrixView<T>& m) {
    for (Index i = 0; i < m.rows; ++i) m(i, i) = static_cast<T>(static_cast<double>(m(i, i)) + shift[usize(i)]);
  });
}

double CpuAlgebra::symmetric_norm(const EngineMatrix& a) const {
  return with_entries(a, [](const auto& m) { return upper_norm(m); });
}

Index CpuAlgebra::cholesky(EngineMatrix& a, Progress* progress) const {
  return with_writable(a, [&]<typename T>(const MatrixView<T>& m) { return tiled_cholesky<T>(m, progress, team(a)); });
}

void CpuAlgebra::solve(Transpose op, const EngineMatrix& u, MatrixView<double> b) const {
  if (u.precision() == Precision::f64) return tiled_solve<double>(constant<double>(u), op, b, team(u));
  Matrix<float> rounded(b.rows, b.cols, Content::unset);
  std::vector<double> unit(usize(b.cols));
  for (Index j = 0; j < b.cols; ++j) {
    const double largest = column_maximum(b, j);
    unit[usize(j)] = largest > 0 ? largest : 1.0;
    for (Index i = 0; i < b.rows; ++i) rounded(i, j) = static_cast<float>(b(i, j) / unit[usize(j)]);
  }
  tiled_solve<float>(constant<float>(u), op, rounded.view(), team(u));
  for (Index i = 0; i < b.rows; ++i) {
    for (Index j = 0; j < b.cols; ++j) b(i, j) = unit[usize(j)] * static_cast<double>(rounded(i, j));
  }
}

void CpuAlgebra::transpose_upper(EngineMatrix& a) const {
  with_writable(a, [&]<typename T>(const MatrixView<T>& m) {
    mirror_upper(m);
    for (Index i = 0; i < m.rows; ++i) std::fill(m.row(i) + i + 1, m.row(i) + m.cols, T{0});
  });
}

Index CpuAlgebra::pivoted_cholesky(EngineMatrix& a, double least, std::vector<Index>& order, Progress* progress) const {
  const MatrixView<double> m = writable<double>(a);
  const Index rank = cpu::pivoted_cholesky(m, least, order, team(a), progress);
  for (Index i = 0; i < rank; ++i) std::fill(m.row(i) + i + 1, m.row(i) + m.cols, 0.0);
  return rank;
}

Inertia CpuAlgebra::inertia(const EngineMatrix& a) const { return bunch_kaufman(double_copy(a))->inertia(); }

std::vector<double> CpuAlgebra::eigenvalues(EngineMatrix a, Progress* progress) const {
  return cpu::eigenvalues(tridiagonal_form(taken(a), team(a), progress));
}

std::vector<double> CpuAlgebra::eigenvectors(EngineMatrix a, EngineMatrix& vectors, Progress* progress) const {
  Matrix<double> rows;
  std::vector<double> values = cpu::eigenvectors(tridiagonal_form(taken(a), team(a), progress), rows, progress);
  vectors = owned(std::move(rows));
  return values;
}

std::unique_ptr<ShiftedFamily> CpuAlgebra::shifted_family(EngineMatrix a, Progress* progress) const {
  const int threads = team(a);
  return band_family(taken(a), threads, progress);
}

std::unique_ptr<IndefiniteFactor> CpuAlgebra::indefinite_factor(EngineMatrix a, Progress* /*progress*/) const {
  return bunch_kaufman(taken(a));
}

}  // namespace widelimit::cpu
