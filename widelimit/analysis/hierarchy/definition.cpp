#include "widelimit/analysis/dynamics/flow/eigenpairs.hpp"
#include "widelimit/analysis/hierarchy/fourth_order.hpp"
#include "widelimit/base/interruption.hpp"

#include <numeric>
#include <vector>

namespace widelimit {

namespace {

/// Data of one point for one hidden weight vector.
struct Place {
  Jet at;
  const double* x;
};

/// m²K⁽⁴⁾(x,x',i,j) of one hidden unit, averaged over its output weight: E a² = 1, E a⁴ = 3. Time derivative of
/// m^{3/2}K⁽³⁾ = a{2pp'G s_i + p_i(B + a²GD)} along sample j. [docs/theory/tangent-hierarchy.md]
class UnitTensor {
 public:
  UnitTensor(const Activation& activation, MatrixView<const double> points, const double* w)
      : cols_(points.cols), places_(usize(points.rows)) {
    for (Index i = 0; i < points.rows; ++i) {
      const double* const x = points.row(i);
      places_[usize(i)] = {jet(activation, inner(x, w)), x};
    }
  }

  [[nodiscard]] double operator()(Index row, Index col, Index i, Index j) const {
    const auto& [f, x] = places_[usize(row)];
    const auto& [g, y] = places_[usize(col)];
    const Jet& at_i = places_[usize(i)].at;
    const Jet& at_j = places_[usize(j)].at;
    const double g_xy = inner(x, y);
    const double xi = inner(x, places_[usize(i)].x);
    const double yi = inner(y, places_[usize(i)].x);
    const double xj = inner(x, places_[usize(j)].x);
    const double yj = inner(y, places_[usize(j)].x);
    const double ij = inner(places_[usize(i)].x, places_[usize(j)].x);
    const double b = f.first * g.value * xi + f.value * g.first * yi;
    const double d = f.second * g.first * xi + f.first * g.second * yi;
    const double d_j = f.second * g.first * xj + f.first * g.second * yj;
    const double mixed = xi * yj + yi * xj;
    const double output = at_j.value * (2 * f.first * g.first * g_xy * at_i.value + at_i.first * (b + 3 * g_xy * d));
    const double b_turn = f.second * g.value * xi * xj + f.first * g.first * mixed + f.value * g.second * yi * yj;
    const double d_turn = f.third * g.first * xi * xj + f.second * g.second * mixed + f.first * g.third * yi * yj;
    const double hidden =
        at_j.first * (2 * g_xy * (d_j * at_i.value + f.first * g.first * at_i.first * ij) +
                      at_i.second * ij * (b + 3 * g_xy * d) + at_i.first * (b_turn + 3 * g_xy * d_turn));
    return output + hidden;
  }

 private:
  [[nodiscard]] double inner(const double* x, const double* y) const {
    return std::inner_product(x, x + cols_, y, 0.0);
  }

  Index cols_;
  std::vector<Place> places_;
};

/// Returns H⁻¹yyᵀH⁻¹ − P[ỹ_iỹ_j/(D_j(D_i + D_j))]Pᵀ, the weights of K⁽⁴⁾ in LA (6).
Matrix<double> published_weights(const GramMatrix& h, std::span<const double> y) {
  const Index n = h.samples();
  const Eigenpairs pairs = eigenpairs(h, nullptr);
  Matrix<double> v(n, n);
  h.algebra().read(pairs.vectors, v.view());
  std::vector<double> turned(usize(n));
  std::vector<double> solved(usize(n));
  for (Index k = 0; k < n; ++k) {
    turned[usize(k)] = std::inner_product(y.begin(), y.end(), v.view().row(k), 0.0);
    for (Index i = 0; i < n; ++i) solved[usize(i)] += v(k, i) * turned[usize(k)] / pairs.values[usize(k)];
  }
  Matrix<double> weights(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      weights(i, j) = solved[usize(i)] * solved[usize(j)];
      for (Index k = 0; k < n; ++k) {
        for (Index l = 0; l < n; ++l) {
          const double d = pairs.values[usize(l)];
          weights(i, j) -= v(k, i) * v(l, j) * turned[usize(k)] * turned[usize(l)] / (d * (pairs.values[usize(k)] + d));
        }
      }
    }
  }
  return weights;
}

}  // namespace

Matrix<double> fourth_order_by_definition(const Activation& activation, MatrixView<const double> points,
                                          const GramMatrix& h, std::span<const double> y,
                                          MatrixView<const double> directions) {
  const Index n = h.samples();
  const Matrix<double> weights = published_weights(h, y);
  Matrix<double> mean(points.rows, n);
  for (Index k = 0; k < directions.rows; ++k) {
    interruption_point();
    const UnitTensor tensor(activation, points, directions.row(k));
    for (Index row = 0; row < points.rows; ++row) {
      for (Index col = 0; col < n; ++col) {
        double sum = 0;
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j < n; ++j) sum += weights(i, j) * tensor(row, col, i, j);
        }
        mean(row, col) += sum / static_cast<double>(directions.rows);
      }
    }
  }
  return mean;
}

}  // namespace widelimit
