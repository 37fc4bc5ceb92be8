#include "widelimit/backend/select.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

namespace widelimit {
namespace {

/// Draws networks that displacement planes must take, on small images of awkward sizes.
class RandomImageNetwork {
 public:
  explicit RandomImageNetwork(std::uint64_t seed) : random_(7, seed) {
    shape_ = {1 + below(6), 1 + below(6), 2 + below(3)};
    rows_ = shape_.height;
    cols_ = shape_.width;
    rectifiers_only_ = coin();
    const Index stages = 1 + below(3);
    for (Index s = 0; s < stages; ++s) {
      stage();
      if (s + 1 < stages) pool();
    }
    text_ += pick({" flatten", " global_avg_pool", " global_sum_pool"});
    if (coin()) text_ += fmt::format(" dense(b_std={}) {}", coin() ? 0.3 : 0.0, activation());
    text_ += " dense";
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] Index count() { return pick({Index{1}, Index{2}, Index{17}, Index{37}}); }

 private:
  Index below(Index bound) { return static_cast<Index>(random_.below(static_cast<std::uint64_t>(bound), next_++)); }
  bool coin() { return below(2) == 0; }
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return *(list.begin() + below(static_cast<Index>(list.size())));
  }
  std::string pick(std::initializer_list<const char*> list) {
    return *(list.begin() + below(static_cast<Index>(list.size())));
  }

  std::string activation() {
    if (rectifiers_only_ || below(3) > 0) {
      return pick({"relu", "relu", "relu", "leaky_relu(slope=0.3)", "leaky_relu(slope=-0.2)", "abs", "identity"});
    }
    return pick({"erf", "gelu", "sin", "cos", "sign", "exp", "gaussian", "rbf(gamma=0.4)", "monomial(degree=2)",
                 "rectified_monomial(degree=2)", "hermite(degree=3)", "polynomial(coef=[0.2, 0.7, 0.1])"});
  }

  void stage() {
    const bool circular = below(4) == 0;
    const Index layers = 1 + below(3);
    for (Index k = 0; k < layers; ++k) layer(circular);
  }

  void layer(bool circular) {
    switch (below(8)) {
      case 0:
        text_ += " layer_norm";
        break;
      case 1:
        text_ += " dropout(rate=0.8)";
        break;
      case 2:
        text_ += fmt::format(" dense(w_std=1.2, b_std={})", coin() ? 0.2 : 0.0);
        break;
      case 3:
        text_ += fmt::format(" residual{{ {} {} }}", activation(), kept(circular));
        break;
      case 4:
        text_ += fmt::format(" residual{{ {0} {1} {2} | scale(by=0.7) {3} }}", kept(circular), activation(),
                             kept(circular), kept(circular));
        break;
      default:
        text_ += fmt::format(" {}", circular ? kept(true) : moved());
        break;
    }
    text_ += fmt::format(" {}", activation());
  }

  /// A convolution that keeps the grid.
  std::string kept(bool circular) {
    return fmt::format("conv(kernel={}, padding={}, w_std={}, b_std={})", pick({"3x3", "1x1", "5x5", "3x1", "2x3"}),
                       circular ? "CIRCULAR" : "SAME", pick({1.0, 1.4142135623730951, 0.6}), coin() ? 0.15 : 0.0);
  }

  /// One that may change it.
  std::string moved() {
    const Index kernel_rows = pick({Index{3}, Index{1}, Index{2}, Index{5}});
    const Index kernel_cols = pick({Index{3}, Index{1}, Index{4}});
    const Index stride_rows = 1 + below(5) / 3;
    const Index stride_cols = 1 + below(5) / 3;
    const bool valid = coin() && kernel_rows <= rows_ && kernel_cols <= cols_;
    rows_ = valid ? (rows_ - kernel_rows) / stride_rows + 1 : (rows_ + stride_rows - 1) / stride_rows;
    cols_ = valid ? (cols_ - kernel_cols) / stride_cols + 1 : (cols_ + stride_cols - 1) / stride_cols;
    return fmt::format("conv(kernel={}x{}, strides={}x{}, padding={}, w_std={}, b_std={})", kernel_rows, kernel_cols,
                       stride_rows, stride_cols, valid ? "VALID" : "SAME", pick({1.0, 1.4142135623730951}),
                       coin() ? 0.15 : 0.0);
  }

  void pool() {
    const Index window_rows = std::min(rows_, 1 + below(3));
    const Index window_cols = std::min(cols_, 1 + below(3));
    const Index stride_rows = 1 + below(2);
    const Index stride_cols = 1 + below(2);
    const bool valid = coin();
    rows_ = valid ? (rows_ - window_rows) / stride_rows + 1 : (rows_ + stride_rows - 1) / stride_rows;
    cols_ = valid ? (cols_ - window_cols) / stride_cols + 1 : (cols_ + stride_cols - 1) / stride_cols;
    text_ += fmt::format(" {}(window={}x{}, strides={}x{}, padding={})", coin() ? "avg_pool" : "sum_pool", window_rows,
                         window_cols, stride_rows, stride_cols, valid ? "VALID" : "SAME");
  }

  Random random_;
  std::uint64_t next_ = 0;
  Shape shape_;
  Index rows_ = 1, cols_ = 1;
  bool rectifiers_only_ = false;
  std::string text_;
};

Matrix<double> normal(Index n, Index d, std::uint64_t seed) {
  Matrix<double> x(n, d);
  const Random random(seed);
  for (Index k = 0; k < n * d; ++k) x.data()[k] = random.normal(static_cast<std::uint64_t>(k));
  return x;
}

/// First, middle and last: each may be in another group of 16.
std::vector<Index> some_of(Index n) {
  if (n == 1) return {0};
  return n == 2 ? std::vector<Index>{0, 1} : std::vector<Index>{0, n / 2, n - 1};
}

Matrix<double> rows_of(const Matrix<double>& x, const std::vector<Index>& picked) {
  Matrix<double> result(static_cast<Index>(picked.size()), x.cols());
  for (Index i = 0; i < result.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) result(i, j) = x(picked[static_cast<std::size_t>(i)], j);
  }
  return result;
}

double at(const AnyMatrix& matrix, Index i, Index j) {
  return std::visit([&](const auto& m) { return static_cast<double>(m(i, j)); }, matrix);
}

/// Largest difference over the picked pairs, relative to the largest of them.
double difference(const AnyMatrix& ours, const std::vector<Index>& rows, const std::vector<Index>& cols,
                  const AnyMatrix& expected) {
  double scale = 0;
  double worst = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < cols.size(); ++j) {
      const double reference = at(expected, static_cast<Index>(i), static_cast<Index>(j));
      const double error = std::abs(at(ours, rows[i], cols[j]) - reference);
      scale = std::max(scale, std::abs(reference));
      worst = std::isfinite(error) ? std::max(worst, error) : HUGE_VAL;
    }
  }
  return scale > 0 ? worst / scale : worst;
}

/// float64: sums of a few hundred terms and roots of 1 − ρ not nearer to 0 than 1e-4: 1e-16·1e2/√1e-4. float32: the
/// same with 6e-8, less for what is a mean.                                               [docs/theory/convolution.md]
TEST(Planes, RandomNetworksEqualTheReference) {
  const auto fast = make_backend("cpu");
  const auto oracle = make_backend("reference");
  double worst_f64 = 0;
  double worst_f32 = 0;
  for (std::uint64_t seed = 0; seed < 240; ++seed) {
    RandomImageNetwork drawn(seed);
    const Network network = Network::parse(drawn.text());
    const Shape shape = drawn.shape();
    SCOPED_TRACE(fmt::format("{} on {}, seed {}", network.to_text(), to_string(shape), seed));
    const Matrix<double> x1 = normal(drawn.count(), shape.size(), 2 * seed);
    const Matrix<double> x2 = normal(drawn.count(), shape.size(), 2 * seed + 1);
    const auto rows = some_of(x1.rows());
    const auto cols = some_of(x2.rows());
    const Matrix<double> few1 = rows_of(x1, rows);
    const Matrix<double> few2 = rows_of(x2, cols);
    const GramOptions options{.kind = Kind::both};
    const Gram expected = gram(network, {few1.view(), shape}, {few2.view(), shape}, options, *oracle);
    const Gram own = gram(network, {few1.view(), shape}, options, *oracle);
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const GramOptions asked{.kind = Kind::both, .precision = precision};
      const Gram ours = gram(network, {x1.view(), shape}, {x2.view(), shape}, asked, *fast);
      const Gram symmetric = gram(network, {x1.view(), shape}, asked, *fast);
      EXPECT_EQ(ours.route.rfind("displacement planes", 0), 0U) << ours.route;
      const double error =
          std::max({difference(ours.nngp, rows, cols, expected.nngp), difference(ours.ntk, rows, cols, expected.ntk),
                    difference(symmetric.nngp, rows, rows, own.nngp), difference(symmetric.ntk, rows, rows, own.ntk)});
      EXPECT_LE(error, precision == Precision::f64 ? 1e-11 : 2e-5) << to_string(precision);
      double& worst = precision == Precision::f64 ? worst_f64 : worst_f32;
      worst = std::max(worst, error);
    }
  }
  printf("240 random networks: largest relative error %.2g in float64, %.2g in float32\n", worst_f64, worst_f32);
}

}  // namespace
}  // namespace widelimit
