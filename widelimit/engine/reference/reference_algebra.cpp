#include "widelimit/engine/reference/reference_algebra.hpp"

#include "widelimit/base/checksum.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/reference/real_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit::reference {

namespace {

using Number = long double;

struct RealMemory final : EngineMatrix::Memory {
  std::vector<Number> entries;
  Index stride = 0;
};

RealView view(const EngineMatrix& a) {
  auto* memory = dynamic_cast<RealMemory*>(a.memory());
  if (memory == nullptr) fail(Code::usage, "the reference algebra needs a matrix of the reference engine");
  return {memory->entries.data() + a.first_row() * memory->stride + a.first_col(), a.rows(), a.cols(), memory->stride};
}

template <typename T>
void read_into(const EngineMatrix& a, MatrixView<T> host) {
  const RealView from = view(a);
  for (Index i = 0; i < from.rows; ++i) {
    for (Index j = 0; j < from.cols; ++j) host(i, j) = static_cast<T>(from(i, j));
  }
}

/// Solves op(t)x = b for a triangular matrix t, stored in the lower or upper triangle.
void substitute(RealView t, bool stored_lower, Transpose op, MatrixView<double> b) {
  const bool lower = stored_lower == (op == Transpose::no);
  const auto entry = [&](Index i, Index j) { return op == Transpose::no ? t(i, j) : t(j, i); };
  const Index n = t.rows;
  for (Index c = 0; c < b.cols; ++c) {
    std::vector<Number> x(usize(n));
    for (Index step = 0; step < n; ++step) {
      const Index i = lower ? step : n - 1 - step;
      Number rest = b(i, c);
      for (Index j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) rest -= entry(i, j) * x[usize(j)];
      x[usize(i)] = rest / entry(i, i);
    }
    for (Index i = 0; i < n; ++i) b(i, c) = static_cast<double>(x[usize(i)]);
  }
}

/// Factors A + cI separately for each c.
class FactoredFamily final : public ShiftedFamily {
 public:
  FactoredFamily(const ReferenceAlgebra& algebra, EngineMatrix a) : algebra_(algebra), a_(std::move(a)) {}

  [[nodiscard]] std::vector<ShiftedInverse> inverses(MatrixView<const double> right_hand_sides,
                                                     std::span<const double> shifts,
                                                     Progress* progress) const override {
    const Index n = a_.rows();
    std::vector<ShiftedInverse> result;
    for (const double shift : shifts) {
      EngineMatrix u = algebra_.copy_of(a_, Precision::f64);
      algebra_.add_to_diagonal(u, std::vector<double>(usize(n), shift));
      ShiftedInverse& inverse = result.emplace_back();
      if (algebra_.cholesky(u, progress) != 0) continue;
      inverse.positive_definite = true;
      inverse.solution = Matrix<double>(n, right_hand_sides.cols, Content::unset);
      for (Index i = 0; i < n; ++i)
        std::copy_n(right_hand_sides.row(i), right_hand_sides.cols, inverse.solution.view().row(i));
      algebra_.solve_factored(u, inverse.solution.view());
      for (Index i = 0; i < n; ++i) {  // ‖U⁻ᵀe_i‖²
        Matrix<double> unit(n, 1);
        unit(i, 0) = 1;
        algebra_.solve(Transpose::yes, u, unit.view());
        Number square = 0;
        for (Index k = 0; k < n; ++k) square += static_cast<Number>(unit(k, 0)) * unit(k, 0);
        inverse.diagonal.push_back(static_cast<double>(square));
      }
    }
    return result;
  }
  [[nodiscard]] double smallest_eigenvalue() const override {
    return algebra_.eigenvalues(algebra_.copy_of(a_, Precision::f64), nullptr).front();
  }

 private:
  const ReferenceAlgebra& algebra_;
  EngineMatrix a_;
};

}  // namespace

EngineMatrix ReferenceAlgebra::allocate(Index rows, Index cols, Precision precision) const {
  auto memory = std::make_shared<RealMemory>();
  memory->entries.resize(usize(rows * cols));
  memory->stride = cols;
  return {std::move(memory), rows, cols, precision};
}

EngineMatrix ReferenceAlgebra::hold(const AnyView& host) const {
  return std::visit(
      [&]<typename T>(const MatrixView<const T>& from) {
        const EngineMatrix result = allocate(from.rows, from.cols, precision_of<T>);
        const RealView to = view(result);
        for (Index i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.cols, to.data + i * to.stride);
        return result;
      },
      host);
}

void ReferenceAlgebra::copy(const EngineMatrix& a, EngineMatrix& to) const {
  const RealView from = view(a);
  const RealView out = view(to);
  for (Index i = 0; i < from.rows; ++i) {
    for (Index j = 0; j < from.cols; ++j) out(i, j) = from(i, j);
  }
}

void ReferenceAlgebra::read(const EngineMatrix& a, MatrixView<float> host) const { read_into(a, host); }
void ReferenceAlgebra::read(const EngineMatrix& a, MatrixView<double> host) const { read_into(a, host); }

void ReferenceAlgebra::write(MatrixView<const double> host, EngineMatrix& a) const {
  const RealView to = view(a);
  for (Index i = 0; i < host.rows; ++i) {
    for (Index j = 0; j < host.cols; ++j) to(i, j) = host(i, j);
  }
}

EngineMatrix ReferenceAlgebra::gather(const EngineMatrix& a, std::span<const Index> rows,
                                      std::span<const Index> cols) const {
  const EngineMatrix result = allocate(std::ssize(rows), std::ssize(cols), a.precision());
  const RealView from = view(a);
  const RealView to = view(result);
  for (Index i = 0; i < to.rows; ++i) {
    for (Index j = 0; j < to.cols; ++j) to(i, j) = from(rows[usize(i)], cols[usize(j)]);
  }
  return result;
}

std::vector<double> ReferenceAlgebra::diagonal(const EngineMatrix& a) const {
  const RealView m = view(a);
  std::vector<double> result;
  for (Index i = 0; i < m.rows; ++i) result.push_back(static_cast<double>(m(i, i)));
  return result;
}

Symmetry ReferenceAlgebra::symmetry(const EngineMatrix& k, double allowed) const {
  const RealView m = view(k);
  Symmetry result;
  for (Index i = 0; i < m.rows; ++i) {
    for (Index j = i; j < m.cols; ++j) {
      const bool finite = std::isfinite(m(i, j)) && std::isfinite(m(j, i));
      if (finite && m(i, j) == m(j, i)) continue;
      result.equal = false;
      const Number unit = allowed * std::sqrt(std::abs(m(i, i))) * std::sqrt(std::abs(m(j, j)));
      if (!finite || !(std::abs(m(i, j) - m(j, i)) <= unit)) {
        result.invalid_entry = std::pair(i, j);
        return result;
      }
    }
  }
  return result;
}

std::uint64_t ReferenceAlgebra::checksum(const EngineMatrix& k) const {
  std::vector<double> row(usize(k.cols()));
  auto sum = static_cast<std::uint64_t>(k.rows());
  for (Index i = 0; i < k.rows(); ++i) {
    read(k.block(i, 0, 1, k.cols()), MatrixView<double>{row.data(), 1, k.cols(), k.cols()});
    sum = widelimit::checksum(std::as_bytes(std::span<const double>(row)), sum);
  }
  return sum;
}

void ReferenceAlgebra::multiply(Transpose op, const EngineMatrix& a, MatrixView<const double> v,
                                MatrixView<double> out) const {
  const RealView m = view(a);
  const Index inner = op == Transpose::no ? m.cols : m.rows;
  for (Index i = 0; i < out.rows; ++i) {
    for (Index c = 0; c < out.cols; ++c) {
      Number sum = 0;
      for (Index k = 0; k < inner; ++k) sum += (op == Transpose::no ? m(i, k) : m(k, i)) * v(k, c);
      out(i, c) = static_cast<double>(sum);
    }
  }
}

void ReferenceAlgebra::multiply_precisely(const EngineMatrix& k, MatrixView<const double> v, MatrixView<double> out,
                                          Progress* /*progress*/) const {
  const RealView m = view(k);
  for (Index i = 0; i < out.rows; ++i) {
    for (Index c = 0; c < out.cols; ++c) {
      // Compensated summation: 64 bits of mantissa alone are less than twice the 53 of float64.
      Number sum = 0;
      Number correction = 0;
      for (Index j = 0; j < m.cols; ++j) {
        const Number product = m(i, j) * v(j, c);
        const Number rest = std::fma(m(i, j), static_cast<Number>(v(j, c)), -product);
        const Number next = sum + product;
        correction += (std::abs(sum) >= std::abs(product) ? (sum - next) + product : (product - next) + sum) + rest;
        sum = next;
      }
      out(i, c) = static_cast<double>(sum + correction);
    }
  }
}

void ReferenceAlgebra::multiply_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const {
  const RealView m = view(l);
  for (Index c = 0; c < b.cols; ++c) {
    std::vector<Number> product(usize(m.rows));
    for (Index i = 0; i < m.rows; ++i) {
      for (Index j = 0; j <= i; ++j) {
        if (op == Transpose::no) {
          product[usize(i)] += m(i, j) * b(j, c);
        } else {
          product[usize(j)] += m(i, j) * b(i, c);
        }
      }
    }
    for (Index i = 0; i < m.rows; ++i) b(i, c) = static_cast<double>(product[usize(i)]);
  }
}

void ReferenceAlgebra::solve_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const {
  substitute(view(l), true, op, b);
}

void ReferenceAlgebra::product(double alpha, Transpose op_a, const EngineMatrix& a, Transpose op_b,
                               const EngineMatrix& b, double beta, EngineMatrix& c) const {
  const RealView left = view(a);
  const RealView right = view(b);
  const RealView out = view(c);
  const Index inner = op_a == Transpose::no ? left.cols : left.rows;
  for (Index i = 0; i < out.rows; ++i) {
    for (Index j = 0; j < out.cols; ++j) {
      Number sum = 0;
      for (Index k = 0; k < inner; ++k) {
        sum += (op_a == Transpose::no ? left(i, k) : left(k, i)) * (op_b == Transpose::no ? right(k, j) : right(j, k));
      }
      out(i, j) = alpha * sum + (beta == 0 ? 0 : beta * out(i, j));
    }
  }
}

double ReferenceAlgebra::scaled(const EngineMatrix& k, std::span<const double> scale, std::span<const double> shift,
                                EngineMatrix& out, Progress* /*progress*/) const {
  const RealView from = view(k);
  const RealView to = view(out);
  Number norm = 0;
  for (Index i = 0; i < from.rows; ++i) {
    const double added = shift.empty() ? 0.0 : shift[usize(i)];
    Number sum = std::abs(added);
    for (Index j = 0; j < from.cols; ++j) {
      const Number entry = from(i, j) * factor_at(scale, i) * factor_at(scale, j);
      sum += std::abs(entry);
      if (j >= i) to(i, j) = entry + (i == j ? added : 0.0);
    }
    norm = std::max(norm, sum);
  }
  return static_cast<double>(norm);
}

void ReferenceAlgebra::inner_product(const EngineMatrix& x, std::span<const double> weights, bool whole,
                                     EngineMatrix& out) const {
  const RealView m = view(x);
  const RealView to = view(out);
  for (Index i = 0; i < to.rows; ++i) {
    for (Index j = whole ? 0 : i; j < to.cols; ++j) {
      Number sum = 0;
      for (Index k = 0; k < m.rows; ++k) sum += m(k, i) * factor_at(weights, k) * m(k, j);
      to(i, j) = sum;
    }
  }
}

std::vector<double> ReferenceAlgebra::column_squares(const EngineMatrix& x, std::span<const double> weights) const {
  const RealView m = view(x);
  std::vector<double> result;
  for (Index j = 0; j < m.cols; ++j) {
    Number sum = 0;
    for (Index i = 0; i < m.rows; ++i) sum += factor_at(weights, i) * m(i, j) * m(i, j);
    result.push_back(static_cast<double>(sum));
  }
  return result;
}

void ReferenceAlgebra::scale_rows(EngineMatrix& a, std::span<const double> scale) const {
  const RealView m = view(a);
  for (Index i = 0; i < std::ssize(scale); ++i) {
    for (Index j = 0; j < m.cols; ++j) m(i, j) *= scale[usize(i)];
  }
}

void ReferenceAlgebra::add_to_diagonal(EngineMatrix& a, std::span<const double> shift) const {
  for (Index i = 0; i < a.rows(); ++i) view(a)(i, i) += shift[usize(i)];
}

double ReferenceAlgebra::symmetric_norm(const EngineMatrix& a) const {
  const RealView m = view(a);
  Number norm = 0;
  for (Index i = 0; i < m.rows; ++i) {
    Number sum = 0;
    for (Index j = 0; j < m.cols; ++j) sum += std::abs(j < i ? m(j, i) : m(i, j));
    norm = std::max(norm, sum);
  }
  return static_cast<double>(norm);
}

Index ReferenceAlgebra::cholesky(EngineMatrix& a, Progress* progress) const {
  return factor_cholesky(view(a), progress);
}

void ReferenceAlgebra::solve(Transpose op, const EngineMatrix& u, MatrixView<double> b) const {
  substitute(view(u), false, op, b);
}

void ReferenceAlgebra::transpose_upper(EngineMatrix& a) const {
  const RealView m = view(a);
  for (Index i = 0; i < m.rows; ++i) {
    for (Index j = i + 1; j < m.cols; ++j) {
      m(j, i) = m(i, j);
      m(i, j) = 0;
    }
  }
}

Index ReferenceAlgebra::pivoted_cholesky(EngineMatrix& a, double least, std::vector<Index>& order,
                                         Progress* progress) const {
  return factor_with_pivots(view(a), least, order, progress);
}

/// Counts the signs of the computed eigenvalues; magnitudes within rounding count as 0.
Inertia ReferenceAlgebra::inertia(const EngineMatrix& a) const {
  EngineMatrix own = copy_of(a, Precision::f64);
  const double rounding =
      static_cast<double>(a.rows()) * static_cast<double>(std::numeric_limits<Number>::epsilon()) * symmetric_norm(own);
  Inertia result;
  for (const double value : eigenvalues(std::move(own), nullptr)) {
    ++(value > rounding ? result.positive : value < -rounding ? result.negative : result.zero);
  }
  return result;
}

std::vector<double> ReferenceAlgebra::eigenvalues(EngineMatrix a, Progress* progress) const {
  EngineMatrix vectors;
  return eigenvectors(std::move(a), vectors, progress);
}

std::vector<double> ReferenceAlgebra::eigenvectors(EngineMatrix a, EngineMatrix& vectors, Progress* progress) const {
  vectors = allocate(a.rows(), a.cols(), Precision::f64);
  const std::vector<Number> values = jacobi_eigenvalues(view(a), view(vectors), progress);
  return {values.begin(), values.end()};
}

std::unique_ptr<ShiftedFamily> ReferenceAlgebra::shifted_family(EngineMatrix a, Progress* /*progress*/) const {
  return std::make_unique<FactoredFamily>(*this, std::move(a));
}

}  // namespace widelimit::reference
