#pragma once

#include "tests/engine/engines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace widelimit::test {

/// Kernels of images and graphs on an engine with its own memory, compared with another engine.
class DeviceKernels : public BesideCpu {
 protected:
  /// Returns the largest difference from a matrix in float64, relative to its largest entry.
  [[nodiscard]] static double worst(const AnyMatrix& ours, const AnyMatrix& exact) {
    const auto& expected = std::get<Matrix<double>>(exact);
    double scale = 0;
    double found = 0;
    std::visit(
        [&](const auto& matrix) {
          for (Index k = 0; k < expected.rows() * expected.cols(); ++k) {
            scale = std::max(scale, std::abs(expected.data()[k]));
            const double difference = std::abs(static_cast<double>(matrix.data()[k]) - expected.data()[k]);
            if (!(difference <= found)) found = difference;
          }
        },
        ours);
    return found / scale;
  }
  [[nodiscard]] static double worst(const Gram& ours, const Gram& exact) {
    return std::max(worst(ours.nngp, exact.nngp), worst(ours.ntk, exact.ntk));
  }

  /// Returns the largest difference of few × rest and rest × rest from another engine in float64.
  [[nodiscard]] double difference(const std::string& text, const SampleView& few, const SampleView& rest,
                                  Precision precision, const Engine& exact) const {
    const Network network = Network::parse(text);
    const GramOptions ours{.kind = Kind::both, .precision = precision};
    const GramOptions theirs{.kind = Kind::both, .precision = Precision::f64};
    return std::max(worst(gram(network, few, rest, ours, *engine_), gram(network, few, rest, theirs, exact)),
                    worst(gram(network, rest, ours, *engine_), gram(network, rest, theirs, exact)));
  }

  /// A tile, the diagonal and a second request for it have the bits of the whole matrix, which is symmetric. At least
  /// nine samples.
  void expect_tiles_of_one_kernel(const char* text, const SampleView& x) const {
    const Index n = x.count();
    const Kernels& kernels = engine_->kernels();
    const Recipe recipe = lower(Network::parse(text), x.shape, RecipeOutputs::both);
    const auto loaded = kernels.load(recipe, x, Precision::f64, [](Index) {});
    std::vector<EngineMatrix> all;
    for (int s = 0; s < 2; ++s) all.push_back(engine_->algebra().allocate(n, n, Precision::f64));
    Index done = 0;
    kernels.fill(recipe, *loaded, {0, n}, *loaded, {0, n}, true, all, [&](Index pairs) { done = pairs; });
    EXPECT_EQ(done, n * (n + 1) / 2);
    Matrix<double> diagonal(2, n);
    Matrix<double> again(2, n);
    kernels.diagonal(recipe, *loaded, diagonal.view(), [](Index) {});
    kernels.diagonal(recipe, *loaded, again.view(), [](Index) { FAIL() << "computed a second time"; });
    Matrix<double> part[2] = {Matrix<double>(3, 4), Matrix<double>(3, 4)};
    const MatrixView<double> views[2] = {part[0].view(), part[1].view()};
    kernels.tile(recipe, *loaded, {1, 4}, *loaded, {5, 9}, std::span<const MatrixView<double>>(views));
    for (int s = 0; s < 2; ++s) {
      Matrix<double> k(n, n);
      engine_->algebra().read(all[usize(s)], k.view());
      for (Index i = 0; i < n; ++i) {
        EXPECT_EQ(k(i, i), diagonal(s, i));
        EXPECT_EQ(again(s, i), diagonal(s, i));
        for (Index j = 0; j < n; ++j) EXPECT_EQ(k(i, j), k(j, i));
      }
      for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j < 4; ++j) EXPECT_EQ(part[s](i, j), k(1 + i, 5 + j));
      }
    }
  }

  /// Sample 2 of `x`, images of 4 × 4 positions, times 10³⁰ leaves the range of float32 only.
  void expect_range_of_float(const char* text, Matrix<double> x) const {
    for (Index k = 0; k < 16; ++k) x(2, k) *= 1e30;
    const SampleView samples{x.view(), {4, 4, 1}};
    const Network network = Network::parse(text);
    try {
      (void)gram(network, samples, {.kind = Kind::ntk, .precision = Precision::f32}, *engine_);
      FAIL() << "10⁶⁰ fits no float32";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::numerical) << error.what();
    }
    const Gram wide = gram(network, samples, {.kind = Kind::ntk, .precision = Precision::f64}, *engine_);
    EXPECT_GT(std::get<Matrix<double>>(wide.ntk)(2, 2), 1e58);
  }
};

}  // namespace widelimit::test
