#include "tests/base/sparse_rows.hpp"
#include "tests/kernel/gram_file_fixture.hpp"

#include "widelimit/base/memory.hpp"
#include "widelimit/kernel/classical/classical.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/network_gram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace widelimit::test {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

SampleView view(const SparseMatrix& x) { return {x.view(), Shape{1, 1, x.cols()}}; }
SampleView view(const Matrix<double>& x) { return {x.view(), Shape{1, 1, x.cols()}}; }

/// Random rows, an empty one, a repeated one, and one of opposite sign.
SparseMatrix mixed_rows(Index n, Index d, double density, std::uint64_t seed) {
  Matrix<double> x = dense_copy(sparse_rows(n, d, density, seed).view());
  for (Index j = 0; j < d; ++j) {
    x(1, j) = 0;
    x(3, j) = x(2, j);
    x(4, j) = -3 * x(2, j);
  }
  return SparseMatrix::of(MatrixView<const double>(x.view()));
}

/// Largest difference of entries, relative to the square root of the product of the diagonals.
double difference(const AnyMatrix& a, const AnyMatrix& b, const Matrix<double>& rows, const Matrix<double>& cols) {
  const auto entry = [](const AnyMatrix& m, Index i, Index j) {
    return std::visit([&](const auto& of) { return static_cast<double>(of(i, j)); }, m);
  };
  double largest = 0;
  for (Index i = 0; i < rows.cols(); ++i) {
    for (Index j = 0; j < cols.cols(); ++j) {
      const double scale = std::sqrt(rows(1, i) * cols(1, j));
      const double off = std::abs(entry(a, i, j) - entry(b, i, j));
      largest = std::max(largest, scale > 0 ? off / scale : off);
    }
  }
  return largest;
}

/// Both routes round ⟨x̂, x̂'⟩ by at most d·eps. Below t = 2⁻¹⁰ it is recomputed from the inputs; above, arccos and
/// similar functions amplify the error by at most 1/√(2t) = 23, and so does each layer.
double allowed(const Network& network, Index d) {
  const auto layers = static_cast<double>(network.layers.size());
  return 32 * layers * static_cast<double>(d) * eps;
}

TEST(SparseGram, IsThatOfDenseSamplesForEveryActivation) {
  const Index d = 60;
  for (const char* phi : {"relu", "leaky_relu", "abs", "erf", "gelu", "sin", "cos", "sign", "exp", "gaussian", "rbf",
                          "monomial(degree=3)", "rectified_monomial(degree=2)", "polynomial(coef=[0, 1, 0.5])",
                          "identity", "tanh", "sigmoid", "swish", "softplus"}) {
    for (const std::string form : {"dense {} dense", "dense(b_std=0.3) {} dense(b_std=0.3) {} dense(b_std=0.1)"}) {
      std::string text = form;
      for (auto at = text.find("{}"); at != std::string::npos; at = text.find("{}")) text.replace(at, 2, phi);
      SCOPED_TRACE(text);
      const Network network = Network::parse(text);
      const SparseMatrix x = mixed_rows(37, d, 0.2, 5);
      const Matrix<double> dense = dense_copy(x.view());
      const Matrix<double> own = diagonal(network, view(dense), *cpu).values;
      const Gram k = gram(network, view(x), {.kind = Kind::both}, *cpu);
      const Gram expected = gram(network, view(dense), {.kind = Kind::both}, *cpu);
      EXPECT_LE(difference(k.ntk, expected.ntk, own, own), allowed(network, d));
      EXPECT_LE(difference(k.nngp, expected.nngp, own, own), allowed(network, d));
    }
  }
}

TEST(SparseGram, OfEveryDensityAndSize) {
  const Network network = Network::parse("fc:3(b_std=0.2)");
  for (const double density : {0.0, 0.02, 0.5, 1.0}) {
    for (const Index d : {1, 37, 700}) {
      SCOPED_TRACE(fmt::format("density {}, {} columns", density, d));
      const SparseMatrix x1 = mixed_rows(37, d, density, 1);
      const SparseMatrix x2 = mixed_rows(6, d, density, 2);
      const Matrix<double> dense1 = dense_copy(x1.view());
      const Matrix<double> dense2 = dense_copy(x2.view());
      const Matrix<double> own1 = diagonal(network, view(dense1), *cpu).values;
      const Matrix<double> own2 = diagonal(network, view(dense2), *cpu).values;
      const Gram expected = gram(network, view(dense1), view(dense2), {}, *cpu);
      const double limit = allowed(network, d);
      EXPECT_LE(difference(gram(network, view(x1), view(x2), {}, *cpu).ntk, expected.ntk, own1, own2), limit);
      // One set is sparse, the other dense.
      EXPECT_LE(difference(gram(network, view(x1), view(dense2), {}, *cpu).ntk, expected.ntk, own1, own2), limit);
      EXPECT_LE(difference(gram(network, view(dense1), view(x2), {}, *cpu).ntk, expected.ntk, own1, own2), limit);
      const AnyMatrix single = gram(network, view(x1), view(x2), {.precision = Precision::f32}, *cpu).ntk;
      EXPECT_LE(difference(single, expected.ntk, own1, own2), 1e-5);
    }
  }
  const SparseMatrix none(5, {0}, {}, {});
  EXPECT_EQ(std::get<Matrix<double>>(gram(network, view(none), {}, *cpu).ntk).rows(), 0);
}

TEST(SparseGram, AgreesWithTheReference) {
  const auto reference = make_engine("reference");
  for (const char* text : {"fc:2", "dense erf dense(b_std=0.5) relu dense", "dense residual{ relu dense } dense"}) {
    SCOPED_TRACE(text);
    const Network network = Network::parse(text);
    const SparseMatrix x = mixed_rows(9, 50, 0.2, 3);
    const Matrix<double> own = diagonal(network, view(x), *reference).values;
    const Gram k = gram(network, view(x), {}, *cpu);
    const Gram expected = gram(network, view(x), {}, *reference);
    EXPECT_LE(difference(k.ntk, expected.ntk, own, own), allowed(network, 50));
  }
}

TEST(SparseGram, NearParallelRowsKeepTheirDigits) {
  // The second row is rotated by 10⁻⁹ relative to the first: 1 − ρ = 5·10⁻¹⁹ is far below an ulp of ρ.
  const SparseMatrix x(1000, {0, 2, 5}, {10, 500, 10, 400, 500}, {3, 4, 3, 5e-9, 4});
  const Network network = Network::parse("dense sign dense");
  const auto k = std::get<Matrix<double>>(gram(network, view(x), {.kind = Kind::nngp}, *cpu).nngp);
  const double angle = 1e-9;
  EXPECT_NEAR(1 - k(0, 1), 2 * std::numbers::inv_pi * angle, 1e-15);
  const Matrix<double> dense = dense_copy(x.view());
  const auto same = std::get<Matrix<double>>(gram(network, view(dense), {.kind = Kind::nngp}, *cpu).nngp);
  EXPECT_NEAR(k(0, 1), same(0, 1), 4 * eps);
}

TEST(SparseGram, BitsDoNotDependOnThreadsOrPanels) {
  const Network network = Network::parse("fc:2(b_std=0.1)");
  const SparseMatrix x = sparse_rows(1300, 400, 0.03, 8);
  const auto one = make_engine("cpu", {.threads = 1});
  const auto three = make_engine("cpu", {.threads = 3});
  const Gram k = gram(network, view(x), {}, *one);
  const auto& expected = std::get<Matrix<double>>(k.ntk);
  const Gram again = gram(network, view(x), {}, *three);
  const auto& found = std::get<Matrix<double>>(again.ntk);
  EXPECT_TRUE(std::equal(expected.data(), expected.data() + 1300 * 1300, found.data()));
  const GramMatrix lazy =
      network_gram(network, view(x), {.precision = Precision::f64, .memory = std::size_t{8} << 20}, *three);
  const std::vector<Index> chosen{0, 7, 1299};
  const Matrix<double> columns = lazy.columns(chosen);
  for (Index i = 0; i < 1300; ++i) {
    for (Index j = 0; j < 3; ++j) {
      // The Gram matrix computes (i, j) for i ≤ j and mirrors it; with arguments swapped, formulas may round
      // differently.
      if (i <= chosen[usize(j)]) {
        EXPECT_EQ(columns(i, j), expected(i, chosen[usize(j)]));
      }
      EXPECT_NEAR(columns(i, j), expected(i, chosen[usize(j)]), 4 * eps);
    }
  }
}

TEST(SparseGram, OfMillionsOfColumnsTakesLittleMemory) {
  constexpr Index n = 200;
  const SparseMatrix x = text_rows(n, 1'000'000, 100, 4);
  const std::size_t before = peak_memory().value_or(0);
  const Gram k = gram(Network::parse("fc:3"), view(x), {}, *cpu);
  EXPECT_LE(peak_memory().value_or(0) - before, std::size_t{64} << 20);  // dense samples: 1.6 GB
  // The kernel is homogeneous of degree 1 in the variance ‖x‖²/d, with the true d.
  const Matrix<double> own = diagonal(Network::parse("fc:3"), view(x), *cpu).values;
  double square = 0;
  for (const double value : x.view().row(5).values) square += value * value;
  const Matrix<double> unit_own = [&] {
    const SparseMatrix one(1, {0, 1}, {0}, {1.0});
    return diagonal(Network::parse("fc:3"), view(one), *cpu).values;
  }();
  EXPECT_NEAR(own(1, 5), square / 1e6 * unit_own(1, 0), 200 * eps * own(1, 5));
}

TEST(SparseGram, LayersAndSweepAreThoseOfDenseSamples) {
  const Network network = Network::parse("fc:2");
  const SparseMatrix x = mixed_rows(11, 40, 0.3, 6);
  const Matrix<double> dense = dense_copy(x.view());
  const Sweep found = sweep(network, view(x), {}, *cpu);
  const Sweep expected = sweep(network, view(dense), {}, *cpu);
  const auto& a = std::get<Matrix<double>>(found.values);
  const auto& b = std::get<Matrix<double>>(expected.values);
  for (Index k = 0; k < a.rows() * a.cols(); ++k) EXPECT_NEAR(a.data()[k], b.data()[k], 1e-12);
  EXPECT_EQ(layer_contributions(network, view(x), {}, *cpu).ntk.size(), 3u);
}

TEST(SparseGram, WhatReadsPositionsRefusesByName) {
  const SparseMatrix x = sparse_rows(4, 16, 0.5, 1);
  const SampleView images(x.view(), {4, 4, 1});
  const Error error = thrown_error([&] { (void)gram(Network::parse("conv relu flatten dense"), images, {}, *cpu); });
  EXPECT_EQ(error.code(), Code::input);
  EXPECT_NE(std::string(error.what()).find("networks that read positions do not take sparse samples"),
            std::string::npos);
}

TEST(SparseGram, NumbersThatAreNotFiniteAreNamed) {
  const SparseMatrix x(8, {0, 1, 3}, {2, 1, 5}, {1, 2, std::numeric_limits<double>::quiet_NaN()});
  const Error error = thrown_error([&] { (void)gram(Network::parse("fc:1"), view(x), {}, *cpu); });
  EXPECT_NE(std::string(error.what()).find("sample 1 has nan at value 5"), std::string::npos) << error.what();
}

TEST(SparseClassical, IsThatOfDenseSamples) {
  for (const char* text : {"linear", "polynomial(degree=3)", "rbf", "laplace", "arccosine(degree=1)"}) {
    const ClassicalKernel kernel = ClassicalKernel::parse(text);
    for (const double scale : {1.0, 1e150, 1e-150}) {
      if (scale > 1 && kernel.name == ClassicalKernel::Name::polynomial) continue;
      if (scale > 1 && kernel.name == ClassicalKernel::Name::linear) continue;
      SCOPED_TRACE(fmt::format("{} of samples of size {}", text, scale));
      SparseMatrix x = mixed_rows(37, 50, 0.2, 7);
      for (Index i = 0; i < x.rows(); ++i) {
        for (double& value : x.row_values(i)) value *= scale;
      }
      const Matrix<double> dense = dense_copy(x.view());
      if (scale > 1 && kernel.name == ClassicalKernel::Name::arccosine) continue;
      const auto found = std::get<Matrix<double>>(classical_gram(kernel, view(x), {}, Precision::f64, *cpu));
      const auto exact = std::get<Matrix<double>>(classical_gram(kernel, view(dense), {}, Precision::f64, *cpu));
      const auto mixed = std::get<Matrix<double>>(classical_gram(kernel, view(dense), view(x), Precision::f64, *cpu));
      for (Index i = 0; i < 37; ++i) {
        for (Index j = 0; j < 37; ++j) {
          const double size = std::max(std::sqrt(exact(i, i) * exact(j, j)), std::abs(exact(i, j)));
          EXPECT_NEAR(found(i, j), exact(i, j), 1e-13 * size);
          EXPECT_NEAR(mixed(i, j), exact(i, j), 1e-13 * size);
          EXPECT_EQ(found(i, j), found(j, i));
        }
      }
    }
  }
}

TEST(SparseFile, IsTheGramInMemoryAfterInterruptions) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "k.h5";
  const Network network = Network::parse("fc:2");
  const SparseMatrix x = sparse_rows(1100, 5000, 0.004, 3);
  const GramBlock block{"", view(x), std::nullopt};
  GramFileOptions options;
  options.existing = Existing::resume;
  StopAfter progress(1);
  GramFileOptions stopped = options;
  stopped.progress = &progress;
  EXPECT_EQ(thrown_error([&] {
              (void)write_gram(path, {&network, 1}, {&block, 1}, stopped, *cpu);
            }).code(),
            Code::interrupted);
  // Other samples of the same size do not resume it.
  const SparseMatrix other = sparse_rows(1100, 5000, 0.004, 4);
  const GramBlock wrong{"", view(other), std::nullopt};
  EXPECT_NE(thrown_error([&] {
              (void)write_gram(path, {&network, 1}, {&wrong, 1}, options, *cpu);
            }).code(),
            Code::interrupted);
  (void)write_gram(path, {&network, 1}, {&block, 1}, options, *cpu);
  expect_written(path, "ntk", gram(network, view(x), {}, *cpu).ntk);
  const Matrix<double> dense = dense_copy(other.view());
  const GramBlock mixed{"", view(x), view(dense)};
  EXPECT_EQ(thrown_error([&] {
              (void)write_gram(folder.path() / "m.h5", {&network, 1}, {&mixed, 1}, options, *cpu);
            }).code(),
            Code::input);
}

}  // namespace
}  // namespace widelimit::test
