#include "widelimit/finite/layers/engine_product.hpp"

namespace widelimit {

template <std::floating_point T>
void engine_product(const Engine& engine, double alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b,
                    MatrixView<const T> b, double beta, MatrixView<T> c) {
  const Algebra& algebra = engine.algebra();
  const MatrixView<const T> before = c;
  const EngineMatrix left = algebra.hold(a);
  const EngineMatrix right = algebra.hold(b);
  if (std::optional<EngineMatrix> out = algebra.over(before)) {
    algebra.product(alpha, op_a, left, op_b, right, beta, *out);
    return;
  }
  EngineMatrix out = beta == 0 ? algebra.allocate(c.rows, c.cols, precision_of<T>)
                               : algebra.copy_of(algebra.hold(before), precision_of<T>);
  algebra.product(alpha, op_a, left, op_b, right, beta, out);
  algebra.read(out, c);
}

template void engine_product(const Engine&, double, Transpose, MatrixView<const float>, Transpose,
                             MatrixView<const float>, double, MatrixView<float>);
template void engine_product(const Engine&, double, Transpose, MatrixView<const double>, Transpose,
                             MatrixView<const double>, double, MatrixView<double>);

}  // namespace widelimit
