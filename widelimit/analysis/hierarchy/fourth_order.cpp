#include "widelimit/analysis/hierarchy/fourth_order.hpp"

#include "widelimit/analysis/dynamics/flow/eigenpairs.hpp"
#include "widelimit/base/interruption.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace widelimit {

namespace {

/// Computes c += ab' + ba'; primed factors use the rows of the samples, which come first.
void add_symmetric_product(const Algebra& algebra, const Matrix<double>& a, const Matrix<double>& b,
                           Matrix<double>& c) {
  const MatrixView<const double> first_a = a.view().block(0, 0, c.cols(), a.cols());
  const MatrixView<const double> first_b = b.view().block(0, 0, c.cols(), b.cols());
  algebra.host_product(1, Transpose::no, a.view(), Transpose::yes, first_b, 1, c.view());
  algebra.host_product(1, Transpose::no, b.view(), Transpose::yes, first_a, 1, c.view());
}

}  // namespace

struct FourthOrderSum::Fields {
  Matrix<double> s;
  Matrix<double> p;
  Matrix<double> q;               ///< overwritten by b
  Matrix<double> r;               ///< overwritten by c
  Matrix<double> inner;           ///< ξ, ν, ζ side by side; overwritten by e, g
  std::vector<double> magnitude;  ///< s_α² + |U|² per direction
  std::vector<double> label_sum;  ///< s_α

  [[nodiscard]] Index directions() const { return s.cols(); }
};

FourthOrderSum::FourthOrderSum(const Activation& activation, MatrixView<const double> points,
                               const LabelWeights& weights, const Engine& engine)
    : activation_(activation),
      curved_(activation.phi != Phi::identity &&
              (smoothness(activation) == Smoothness::smooth || activation.phi == Phi::rectified_monomial)),
      points_(points),
      weights_(weights),
      engine_(engine),
      samples_(std::ssize(weights.coefficients)),
      products_(points.rows, samples_),
      weighted_products_(samples_, samples_),
      plain_(points.rows, samples_),
      times_products_(points.rows, samples_) {
  engine.algebra().host_product(1, Transpose::no, points, Transpose::yes, points.block(0, 0, samples_, points.cols), 0,
                                products_.view());
  engine.for_each(samples_, [&](Index i) {
    for (Index j = 0; j < samples_; ++j) weighted_products_(i, j) = weights_.pairs(i, j) * products_(i, j);
  });
}

FourthOrderSum::Fields FourthOrderSum::fields(MatrixView<const double> directions) const {
  const Algebra& algebra = engine_.algebra();
  const Index all = points_.rows;
  const Index count = directions.rows;
  Fields f{.s = {all, count, Content::unset},
           .p = {all, count, Content::unset},
           .q = {all, count, Content::unset},
           .r = {all, count, Content::unset},
           .inner = {all, 3 * count, Content::unset},
           .magnitude = std::vector<double>(usize(count)),
           .label_sum = std::vector<double>(usize(count))};
  algebra.host_product(1, Transpose::no, points_, Transpose::yes, directions, 0, f.s.view());
  engine_.for_each(all, [&](Index i) {
    for (Index k = 0; k < count; ++k) {
      const Jet at = jet(activation_, f.s(i, k));
      f.s(i, k) = at.value;
      f.p(i, k) = at.first;
      f.q(i, k) = at.second;
      f.r(i, k) = at.third;
    }
  });

  // Sample weights α_i p_i, p_i(Ms)_i and q_i((M∘XXᵀ)p)_i of U, V and Z.
  Matrix<double> loads(samples_, 3 * count);
  const MatrixView<double> pulled = loads.view().block(0, count, samples_, count);
  const MatrixView<double> bent = loads.view().block(0, 2 * count, samples_, count);
  algebra.host_product(1, Transpose::no, weights_.pairs.view(), Transpose::no, f.s.view().block(0, 0, samples_, count),
                       0, pulled);
  if (curved_) {
    algebra.host_product(1, Transpose::no, weighted_products_.view(), Transpose::no,
                         f.p.view().block(0, 0, samples_, count), 0, bent);
  }
  engine_.for_each(samples_, [&](Index i) {
    for (Index k = 0; k < count; ++k) {
      loads(i, k) = weights_.coefficients[usize(i)] * f.p(i, k);
      pulled(i, k) *= f.p(i, k);
      bent(i, k) *= f.q(i, k);
    }
  });
  const Index columns = curved_ ? 3 * count : 2 * count;
  algebra.host_product(1, Transpose::no, products_.view(), Transpose::no, loads.view().block(0, 0, samples_, columns),
                       0, f.inner.view().block(0, 0, all, columns));
  for (Index i = 0; i < samples_; ++i) {
    for (Index k = 0; k < count; ++k) {
      f.label_sum[usize(k)] += weights_.coefficients[usize(i)] * f.s(i, k);
      f.magnitude[usize(k)] += loads(i, k) * f.inner(i, k);
    }
  }
  for (std::size_t k = 0; k < f.magnitude.size(); ++k) f.magnitude[k] += f.label_sum[k] * f.label_sum[k];
  return f;
}

void FourthOrderSum::combine(Fields& f) const {
  const Index count = f.directions();
  engine_.for_each(points_.rows, [&](Index i) {
    for (Index k = 0; k < count; ++k) {
      const double p = f.p(i, k);
      const double q = f.q(i, k);
      const double xi = f.inner(i, k);
      const double nu = f.inner(i, count + k);
      const double zeta = curved_ ? f.inner(i, 2 * count + k) : 0.0;
      f.q(i, k) = p * (nu + zeta) + q * xi * xi / 2;
      f.r(i, k) = f.magnitude[usize(k)] * p / 2 + q * (nu + 3 * zeta + 2 * f.label_sum[usize(k)] * xi) +
                  1.5 * f.r(i, k) * xi * xi;
      f.inner(i, k) = p * xi;
      f.inner(i, count + k) = q * xi;
    }
  });
}

void FourthOrderSum::add(MatrixView<const double> directions) {
  Fields f = fields(directions);
  combine(f);
  const Algebra& algebra = engine_.algebra();
  const auto square = [&](double scale, Index part, Matrix<double>& to) {
    const Index count = f.directions();
    const MatrixView<const double> whole = std::as_const(f.inner).view().block(0, part * count, points_.rows, count);
    algebra.host_product(scale, Transpose::no, whole, Transpose::yes, whole.block(0, 0, samples_, count), 1, to.view());
  };
  add_symmetric_product(algebra, f.s, f.q, plain_);
  square(1, 0, plain_);
  add_symmetric_product(algebra, f.p, f.r, times_products_);
  if (curved_) square(3, 1, times_products_);
}

void FourthOrderSum::take(Matrix<double>& total) {
  engine_.for_each(points_.rows, [&](Index i) {
    for (Index j = 0; j < samples_; ++j) {
      total(i, j) += plain_(i, j) + products_(i, j) * times_products_(i, j);
      plain_(i, j) = 0;
      times_products_(i, j) = 0;
    }
  });
}

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
