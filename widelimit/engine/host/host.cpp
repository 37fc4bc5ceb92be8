#include "widelimit/engine/host/host.hpp"

#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

namespace widelimit::host {

double dot(std::span<const double> x, std::span<const double> y) { return cpu::dot(x, y); }
double norm(std::span<const double> x) { return cpu::norm(x); }
void axpy(double alpha, std::span<const double> x, std::span<double> y) { cpu::axpy(alpha, x, y); }
void add_outer(double alpha, std::span<const double> x, std::span<const double> y, MatrixView<double> m) {
  cpu::ger(alpha, x, y, m);
}
void multiply(double alpha, Transpose op, MatrixView<const double> a, std::span<const double> x, double beta,
              std::span<double> y) {
  cpu::gemv<double>(alpha, op, a, {x.data()}, beta, {y.data()});
}

Index cholesky(MatrixView<double> a) { return cpu::potrf(a); }
void solve_factored(MatrixView<const double> u, std::span<double> x) { cpu::potrs(u, x.data(), 1); }
void solve_right(MatrixView<const double> u, MatrixView<double> b) { cpu::solve_right(u, b); }

bool tridiagonal_eigenvalues(std::span<double> diagonal, std::span<double> beside) {
  return cpu::tridiagonal_eigenvalues(diagonal, beside);
}

}  // namespace widelimit::host
