#include "widelimit/engine/host/host.hpp"

#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

#include <numeric>

namespace widelimit::host {

namespace {

/// Vectors up to this length are faster without a BLAS call.
constexpr std::size_t short_vector = 32;

}  // namespace

double dot(std::span<const double> x, std::span<const double> y) {
  if (x.size() > short_vector) return cpu::dot(x, y);
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}
double norm(std::span<const double> x) { return cpu::norm(x); }
void axpy(double alpha, std::span<const double> x, std::span<double> y) {
  if (x.size() > short_vector) return cpu::axpy(alpha, x, y);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += alpha * x[i];
}
void rotate(double cosine, double sine, std::span<double> x, std::span<double> y) { cpu::rotate(cosine, sine, x, y); }
void add_outer(double alpha, std::span<const double> x, std::span<const double> y, MatrixView<double> m) {
  cpu::ger(alpha, x, y, m);
}
void multiply(double alpha, Transpose op, MatrixView<const double> a, std::span<const double> x, double beta,
              std::span<double> y) {
  cpu::gemv<double>(alpha, op, a, {x.data()}, beta, {y.data()});
}
void add_symmetric(double alpha, MatrixView<const double> a, std::span<const double> x, std::span<double> y) {
  cpu::symv(alpha, a, x, y);
}

template <std::floating_point T>
void product(T alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, T beta,
             MatrixView<T> c) {
  cpu::gemm<T>(alpha, op_a, a, op_b, b, beta, c);
}
template void product(float, Transpose, MatrixView<const float>, Transpose, MatrixView<const float>, float,
                      MatrixView<float>);
template void product(double, Transpose, MatrixView<const double>, Transpose, MatrixView<const double>, double,
                      MatrixView<double>);

void inner_product(MatrixView<const float> a, MatrixView<float> c) { cpu::syrk<float>(1, Transpose::yes, a, 0, c); }
void subtract_inner_product(MatrixView<const double> a, MatrixView<double> c) {
  cpu::syrk<double>(-1, Transpose::yes, a, 1, c);
}

Index cholesky(MatrixView<double> a) { return cpu::potrf(a); }
void solve_factored(MatrixView<const double> u, std::span<double> x) { cpu::potrs(u, x.data(), 1); }
void solve_left(MatrixView<const double> u, MatrixView<double> b) { cpu::trsm<double>(u, Transpose::yes, b); }
void solve_right(MatrixView<const double> u, MatrixView<double> b) { cpu::solve_right(u, b); }

bool tridiagonal_eigenvalues(std::span<double> diagonal, std::span<double> beside) {
  return cpu::tridiagonal_eigenvalues(diagonal, beside);
}

}  // namespace widelimit::host
