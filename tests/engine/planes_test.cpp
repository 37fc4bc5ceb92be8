#include "tests/base/normal_rows.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

namespace widelimit {
namespace {

/// Generates random networks that displacement planes must support, on small images of awkward sizes.
class RandomImageNetwork {
 public:
  explicit RandomImageNetwork(std::uint64_t seed) : random_(7, seed) {
    shape_ = {1 + below(5), 1 + below(5), 2 + below(3)};
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

  /// Weights, optionally a sum of branches that end in weights, optional normalisation, an activation, optional
  /// dropout.
  void layer(bool circular) {
    if (below(6) == 0) {
      text_ += fmt::format(" dense(w_std=1.2, b_std={})", coin() ? 0.2 : 0.0);
    } else {
      text_ += fmt::format(" {}", circular ? kept(true) : moved());
    }
    switch (below(6)) {
      case 0:
        text_ += fmt::format(" residual{{ {} {} }}", activation(), kept(circular));
        break;
      case 1:
        text_ += fmt::format(" residual{{ {0} {1} {2} | scale(by=0.7) {3} }}", kept(circular), activation(),
                             kept(circular), kept(circular));
        break;
      default:
        break;
    }
    if (below(6) == 0) text_ += " layer_norm";
    text_ += fmt::format(" {}", activation());
    if (below(6) == 0) text_ += " dropout(rate=0.8)";
  }

  /// A convolution that preserves the grid.
  std::string kept(bool circular) {
    return fmt::format("conv(kernel={}, padding={}, w_std={}, b_std={})", pick({"3x3", "1x1", "5x5", "3x1", "2x3"}),
                       circular ? "CIRCULAR" : "SAME", pick({1.0, 1.4142135623730951, 0.6}), coin() ? 0.15 : 0.0);
  }

  /// A convolution that may change the grid.
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

/// First, middle and last image: each may be in another group of 16.
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

double entry_of(const AnyMatrix& matrix, Index i, Index j) {
  return std::visit([&](const auto& m) { return static_cast<double>(m(i, j)); }, matrix);
}

/// Returns the largest difference over the selected pairs, relative to the largest of them.
double difference(const AnyMatrix& ours, const std::vector<Index>& rows, const std::vector<Index>& cols,
                  const AnyMatrix& expected) {
  double scale = 0;
  double worst = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < cols.size(); ++j) {
      const double reference = entry_of(expected, static_cast<Index>(i), static_cast<Index>(j));
      const double error = std::abs(entry_of(ours, rows[i], cols[j]) - reference);
      scale = std::max(scale, std::abs(reference));
      worst = std::isfinite(error) ? std::max(worst, error) : HUGE_VAL;
    }
  }
  return scale > 0 ? worst / scale : worst;
}

/// float64: sums of a few hundred terms and square roots of 1 − ρ ≥ 1e-4: 1e-16·1e2/√1e-4. float32: the same with 6e-8,
/// less for means.                                                        [docs/theory/convolution.md]
TEST(Planes, RandomNetworksEqualTheReference) {
  const auto fast = make_engine("cpu");
  const auto oracle = make_engine("reference");
  double worst_f64 = 0;
  double worst_f32 = 0;
  constexpr std::uint64_t networks = WIDELIMIT_SANITIZED != 0 ? 60 : 240;
  for (std::uint64_t seed = 0; seed < networks; ++seed) {
    RandomImageNetwork drawn(seed);
    const Network network = Network::parse(drawn.text());
    const Shape shape = drawn.shape();
    if (shape.is_vector()) continue;  // rejected: there are no neighbouring positions
    SCOPED_TRACE(fmt::format("{} on {}, seed {}", network.to_text(), to_string(shape), seed));
    const Matrix<double> x1 = normal_rows(drawn.count(), shape.size(), 2 * seed);
    const Matrix<double> x2 = normal_rows(drawn.count(), shape.size(), 2 * seed + 1);
    const auto rows = some_of(x1.rows());
    const auto cols = some_of(x2.rows());
    const Matrix<double> few1 = rows_of(x1, rows);
    const Matrix<double> few2 = rows_of(x2, cols);
    const GramOptions options{.kind = Kind::both};
    const Gram expected = gram(network, {few1.view(), shape}, {few2.view(), shape}, options, *oracle);
    const Gram own = gram(network, {few1.view(), shape}, options, *oracle);
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const GramOptions fast_options{.kind = Kind::both, .precision = precision};
      const Gram ours = gram(network, {x1.view(), shape}, {x2.view(), shape}, fast_options, *fast);
      const Gram symmetric = gram(network, {x1.view(), shape}, fast_options, *fast);
      EXPECT_EQ(ours.route.rfind("displacement planes", 0), 0U) << ours.route;
      const double error =
          std::max({difference(ours.nngp, rows, cols, expected.nngp), difference(ours.ntk, rows, cols, expected.ntk),
                    difference(symmetric.nngp, rows, rows, own.nngp), difference(symmetric.ntk, rows, rows, own.ntk)});
      EXPECT_LE(error, precision == Precision::f64 ? 1e-11 : 2e-5) << to_string(precision);
      double& worst = precision == Precision::f64 ? worst_f64 : worst_f32;
      worst = std::max(worst, error);
    }
  }
  printf("Random networks: largest relative error %.2g in float64, %.2g in float32\n", worst_f64, worst_f32);
}

const std::vector<std::string> several = {
    "conv(w_std=1.4) relu conv(w_std=1.4, strides=2) relu conv(b_std=0.1) relu global_avg_pool dense",
    "conv relu avg_pool conv(padding=CIRCULAR) relu avg_pool(window=2x1, strides=1x1) conv abs flatten dense",
    "conv erf conv residual{ relu conv } flatten dense"};

/// Ranges that begin and end inside a group of 16, with more rows than columns and vice versa.
TEST(Planes, TilesOfAnyRangeAreTheSameKernel) {
  const auto engine = make_engine("cpu");
  const Shape shape{4, 5, 2};
  const Matrix<double> x1 = normal_rows(37, shape.size(), 1);
  const Matrix<double> x2 = normal_rows(21, shape.size(), 2);
  for (const std::string& text : several) {
    SCOPED_TRACE(text);
    const Network network = Network::parse(text);
    const Recipe recipe = lower(network, shape, RecipeOutputs::ntk);
    const auto a = engine->kernels().load(recipe, {x1.view(), shape}, Precision::f64, [](Index) {});
    const auto b = engine->kernels().load(recipe, {x2.view(), shape}, Precision::f64, [](Index) {});
    const Gram whole = gram(network, {x1.view(), shape}, {x2.view(), shape}, {}, *engine);
    const Gram square = gram(network, {x1.view(), shape}, {}, *engine);
    const std::vector<std::pair<Range, Range>> tiles{{{3, 20}, {5, 9}}, {{30, 31}, {0, 21}}, {{0, 37}, {20, 21}}};
    for (const auto& [rows, cols] : tiles) {
      Matrix<double> tile(rows.size(), cols.size());
      const std::vector<MatrixView<double>> outputs{tile.view()};
      engine->kernels().tile(recipe, *a, rows, *b, cols, outputs);
      for (Index i = 0; i < tile.rows(); ++i) {
        for (Index j = 0; j < tile.cols(); ++j) {
          const double expected = entry_of(whole.ntk, rows.begin + i, cols.begin + j);
          EXPECT_NEAR(tile(i, j), expected, 1e-13 * std::abs(expected));
        }
      }
    }
    Matrix<double> inner(22, 22);
    const std::vector<MatrixView<double>> outputs{inner.view()};
    engine->kernels().tile(recipe, *a, {7, 29}, *a, {7, 29}, outputs);
    for (Index i = 0; i < 22; ++i) {
      for (Index j = 0; j < 22; ++j) {
        if (i == j) continue;
        const double expected = entry_of(square.ntk, 7 + i, 7 + j);
        EXPECT_NEAR(inner(i, j), expected, 1e-13 * std::abs(expected));
      }
    }
  }
}

TEST(Planes, ThreadsChangeNoBit) {
  const auto one = make_engine("cpu", {.threads = 1});
  const auto many = make_engine("cpu", {.threads = 5});
  const Shape shape{5, 4, 3};
  const Matrix<double> x = normal_rows(37, shape.size(), 3);
  for (const std::string& text : several) {
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      const GramOptions options{.precision = precision};
      const Gram a = gram(Network::parse(text), {x.view(), shape}, options, *one);
      const Gram b = gram(Network::parse(text), {x.view(), shape}, options, *many);
      for (Index i = 0; i < 37; ++i) {
        for (Index j = 0; j < 37; ++j) EXPECT_EQ(entry_of(a.ntk, i, j), entry_of(b.ntk, i, j)) << text;
      }
    }
  }
}

TEST(Planes, SharesOfLayersAddUp) {
  const auto engine = make_engine("cpu");
  const Shape shape{5, 4, 3};
  const Matrix<double> x = normal_rows(18, shape.size(), 4);
  for (const std::string& text : several) {
    SCOPED_TRACE(text);
    const Gram whole = gram(Network::parse(text), {x.view(), shape}, {}, *engine);
    const LayerContributions shares = layer_contributions(Network::parse(text), {x.view(), shape}, {}, *engine);
    for (Index i = 0; i < 18; ++i) {
      for (Index j = 0; j < 18; ++j) {
        double sum = 0;
        for (const AnyMatrix& share : shares.ntk) sum += entry_of(share, i, j);
        EXPECT_NEAR(sum, entry_of(whole.ntk, i, j), 1e-13 * std::abs(sum));
      }
    }
  }
}

/// A network without bias is homogeneous, even if the squares of its inputs exceed the range of double or float; zero
/// images give 0, equal and opposite images the values of the formula.
TEST(Planes, ImagesOfAnyScale) {
  const auto engine = make_engine("cpu");
  const Shape shape{4, 4, 2};
  const Network network = Network::parse("conv(w_std=1.4) relu conv(w_std=1.4) relu global_avg_pool dense");
  const Matrix<double> x = normal_rows(5, shape.size(), 5);
  const Gram unit = gram(network, {x.view(), shape}, {}, *engine);
  Matrix<double> scaled(5, shape.size());
  for (Index k = 0; k < shape.size(); ++k) {
    scaled(0, k) = 1e150 * x(0, k);
    scaled(1, k) = 1e-150 * x(0, k);
    scaled(2, k) = 0;
    scaled(3, k) = -x(0, k);
    scaled(4, k) = x(4, k);
  }
  const Gram k = gram(network, {scaled.view(), shape}, {x.view(), shape}, {}, *engine);
  for (Index j = 0; j < 5; ++j) {
    EXPECT_NEAR(entry_of(k.ntk, 0, j) / 1e150, entry_of(unit.ntk, 0, j), 1e-7);
    EXPECT_NEAR(entry_of(k.ntk, 1, j) / 1e-150, entry_of(unit.ntk, 0, j), 1e-7);
    EXPECT_EQ(entry_of(k.ntk, 2, j), 0);
    EXPECT_NEAR(entry_of(k.ntk, 4, j), entry_of(unit.ntk, 4, j), 1e-7);
  }
  const auto image = [&](Index i) {
    return SampleView(MatrixView<const double>(scaled.view().block(i, 0, 1, shape.size())), shape);
  };
  const Gram single = gram(network, image(0), image(1), {.precision = Precision::f32}, *engine);
  EXPECT_NEAR(entry_of(single.ntk, 0, 0), entry_of(unit.ntk, 0, 0), 1e-5 * entry_of(unit.ntk, 0, 0));
}

/// Networks that do not run on the fast path state the reason, and are still correct.
TEST(Planes, WhatDoesNotFitTakesTheGeneralPathAndSaysSo) {
  const auto fast = make_engine("cpu");
  const auto oracle = make_engine("reference");
  const Shape shape{4, 5, 2};
  const Matrix<double> x = normal_rows(3, shape.size(), 6);
  const std::vector<std::pair<std::string, std::string>> cases{
      {"conv relu attention flatten dense", "attention"},
      {"conv residual{ avg_pool(window=1x1, strides=1x1) relu conv } flatten dense", "residual branch"},
      {"conv relu conv(padding=CIRCULAR) relu flatten dense", "circular and other padding"},
      {"conv(padding=CIRCULAR, strides=3) relu flatten dense", "do not divide"},
      {"conv relu avg_pool(padding=CIRCULAR, window=2x2, strides=1x1) relu flatten dense", "across the edge"}};
  for (const auto& [text, reason] : cases) {
    SCOPED_TRACE(text);
    const Gram ours = gram(Network::parse(text), {x.view(), shape}, {}, *fast);
    const Gram expected = gram(Network::parse(text), {x.view(), shape}, {}, *oracle);
    EXPECT_EQ(ours.route.rfind("general image path", 0), 0U) << ours.route;
    EXPECT_NE(ours.route.find(reason), std::string::npos) << ours.route;
    for (Index i = 0; i < 9; ++i)
      EXPECT_NEAR(entry_of(ours.ntk, i / 3, i % 3), entry_of(expected.ntk, i / 3, i % 3), 1e-9);
  }
}

TEST(Planes, PresetsForImagesTakeThem) {
  const auto engine = make_engine("cpu");
  for (const std::string name : {"cntk:20(readout=pool)", "cntk:20(readout=flatten)", "myrtle5", "myrtle7", "myrtle10",
                                 "lantk_cnn8", "resnet:2"}) {
    const Recipe recipe = lower(Network::parse(name), {32, 32, 3}, RecipeOutputs::ntk);
    const std::string route = engine->kernels().route(recipe, Precision::f32);
    EXPECT_EQ(route.rfind("displacement planes", 0), 0U) << name << ": " << route;
    EXPECT_NE(route.find("float"), std::string::npos);
  }
}

/// Error of float32 for 20 layers on real images.                                    [docs/theory/convolution.md]
TEST(Planes, FloatIsWithin1e5OfDoubleAtDepth20) {
  if (WIDELIMIT_SANITIZED != 0) GTEST_SKIP() << "digits of float32, and no place that other tests do not touch";
  Dataset data;
  try {
    data = load_data("cifar10:test");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const auto engine = make_engine("cpu");
  const auto view = [&](Index begin, Index count) { return data.view().part(begin, count); };
  for (const std::string readout : {"pool", "flatten"}) {
    const Network network = Network::parse("cntk:20(readout=" + readout + ")");
    const Gram single = gram(network, view(0, 1), view(1, 16), {.precision = Precision::f32}, *engine);
    const Gram twice = gram(network, view(0, 1), view(1, 16), {}, *engine);
    double worst = 0;
    for (Index j = 0; j < 16; ++j)
      worst = std::max(worst, std::abs(entry_of(single.ntk, 0, j) / entry_of(twice.ntk, 0, j) - 1));
    EXPECT_LE(worst, 1e-5) << readout;
    printf("cntk:20, %s: float32 differs from float64 by %.2g\n", readout.c_str(), worst);
  }
}

}  // namespace
}  // namespace widelimit
