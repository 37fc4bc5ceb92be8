#include "widelimit/analysis/hierarchy/nth_kernel.hpp"

#include "tests/analysis/dynamics_fixture.hpp"
#include "tests/analysis/labelled_points.hpp"
#include "tests/base/stopping.hpp"
#include "widelimit/analysis/hierarchy/directions.hpp"
#include "widelimit/analysis/hierarchy/replicates.hpp"
#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace widelimit {
namespace {

bool same_bits(const Matrix<double>& a, const Matrix<double>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && std::equal(a.data(), a.data() + a.rows() * a.cols(), b.data());
}

TEST(NthKernel, ErrorsCoverTheDifferenceOfSeeds) {
  const LabelledPoints data(8, 0, 40);
  for (const Phi phi : {Phi::relu, Phi::tanh}) {
    const auto at = [&](std::uint64_t seed, Index samples) {
      return nth_kernel({.phi = phi}, data.train(), data.y, {}, {.samples = samples, .seed = seed}, all_processors());
    };
    const NthKernel few = at(1, 1024);
    const NthKernel many = at(2, 16'384);
    double sum = 0;
    for (Index i = 0; i < 8; ++i) {
      for (Index j = 0; j < 8; ++j) {
        const double deviation = (few.train.values(i, j) - many.train.values(i, j)) /
                                 std::hypot(few.train.error(i, j), many.train.error(i, j));
        EXPECT_LT(std::abs(deviation), 6);  // Student's t with 15 degrees of freedom: 2.4e-5 beyond
        sum += deviation * deviation / 64;
      }
    }
    EXPECT_GT(sum, 0.1);
    EXPECT_LT(sum, 6);
    EXPECT_LT(many.relative_error, few.relative_error);
  }
}

TEST(NthKernel, DrawsUntilTheToleranceIsMet) {
  const LabelledPoints data(6, 0, 5);
  const auto at = [&](double tolerance, Index most) {
    return nth_kernel({.phi = Phi::erf}, data.train(), data.y, {},
                      {.samples = 64, .tolerance = tolerance, .max_samples = most, .width = 1e6}, all_processors());
  };
  const NthKernel loose = at(10, 1 << 16);
  EXPECT_EQ(loose.samples, 64);
  const NthKernel close = at(loose.relative_error / 4, 1 << 16);
  EXPECT_LE(close.relative_error, loose.relative_error / 4);
  EXPECT_GT(close.samples, 64);
  const NthKernel ended = at(1e-9, 256);
  EXPECT_EQ(ended.samples, 256);
  ASSERT_EQ(ended.remarks.size(), 1U);
  EXPECT_NE(ended.remarks[0].find("above the tolerance 1e-09"), std::string::npos);
}

/// 20 and 40 directions are less than a batch, 640 two and a half: batches are also drawn in part.
TEST(Replicates, HaveTheSameBitsHoweverTheyAreLengthened) {
  const LabelledPoints data(6, 2, 5);
  const Activation phi{.phi = Phi::gelu};
  const LabelWeights weights = label_weights(data.gram_of(phi), data.y, nullptr);
  const Directions directions(data.x.view().block(0, 0, 6, 5), true, 4, all_processors());
  FourthOrderSum sum(phi, data.x.view(), weights, all_processors());
  Replicates kept(sum, directions, 8, 6, true);
  Replicates drawn_again(sum, directions, 8, 6, false);
  for (const Index size : {20, 40, 640, 640, 2560}) {
    Replicates at_once(sum, directions, 8, 6, false);
    const EntryMoments expected = at_once.lengthened_to(size, nullptr);
    for (Replicates* found : {&kept, &drawn_again}) {
      const EntryMoments moments = found->lengthened_to(size, nullptr);
      EXPECT_EQ(moments.count(), Replicates::count);
      EXPECT_TRUE(same_bits(moments.mean(), expected.mean())) << size;
      for (Index i = 0; i < 48; ++i) EXPECT_EQ(moments.error(i), expected.error(i)) << size;
    }
  }
}

/// The run with a tolerance is the shortest one of doubled length that meets it. In three dimensions errors of
/// quasi-random points fall faster than 1/√S, which many short replicates would lose.
TEST(NthKernel, WithAToleranceIsTheShortestSufficientRun) {
  const LabelledPoints data(4, 3, 3);
  const auto at = [&](const NthOptions& options) {
    return nth_kernel({.phi = Phi::erf}, data.train(), data.y, data.test(), options, all_processors());
  };
  const double first = at({.samples = 512, .seed = 1}).relative_error;
  for (const double tolerance : {first / 3, first / 50}) {
    const NthKernel found = at({.samples = 512, .tolerance = tolerance, .seed = 1});
    ASSERT_LE(found.relative_error, tolerance);
    const NthKernel fixed = at({.samples = found.samples, .seed = 1});
    EXPECT_EQ(fixed.samples, found.samples);
    EXPECT_EQ(fixed.relative_error, found.relative_error);
    EXPECT_TRUE(same_bits(fixed.train.values, found.train.values));
    EXPECT_TRUE(same_bits(fixed.test->values, found.test->values));
    EXPECT_TRUE(same_bits(fixed.test->error, found.test->error));
    // No fixed number below a half meets it, also none between powers of 2.
    for (Index samples = 512; 2 * samples < found.samples; samples += samples / 2) {
      EXPECT_GT(at({.samples = samples, .seed = 1}).relative_error, tolerance) << samples;
    }
    // Pseudo-random directions would need (first/tolerance)² times 512.
    EXPECT_LT(static_cast<double>(found.samples), 512 * std::pow(first / tolerance, 2));
  }
}

/// The squared standard error is on average the variance over seeds: for normal means of replicates, the ratio follows
/// F(63, 64·15), of which 1e-6 is below 0.36 and 1e-6 above 2.16.
TEST(NthKernel, ErrorsAreTheSpreadOverSeeds) {
  const LabelledPoints data(4, 0, 3);
  constexpr std::uint64_t seeds = 64;
  for (const Phi phi : {Phi::erf, Phi::relu}) {
    for (const Index samples : {512, 4096, 16'384}) {
      std::array<double, 16> sum{};
      std::array<double, 16> squares{};
      std::array<double, 16> stated{};
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const NthKernel found =
            nth_kernel({.phi = phi}, data.train(), data.y, {}, {.samples = samples, .seed = seed}, all_processors());
        for (std::size_t i = 0; i < 16; ++i) {
          const double correction = found.train.values.data()[i] - found.train.ntk.data()[i];
          sum[i] += correction / seeds;
          squares[i] += correction * correction / seeds;
          stated[i] += std::pow(found.train.error.data()[i], 2) / seeds;
        }
      }
      for (std::size_t i = 0; i < 16; ++i) {
        const double ratio = (squares[i] - sum[i] * sum[i]) * seeds / (seeds - 1) / stated[i];
        EXPECT_GT(ratio, 0.36) << samples << " " << i;
        EXPECT_LT(ratio, 2.16) << samples << " " << i;
      }
    }
  }
}

/// Directions of all engines are the same, also if principal axes are defined only up to rotation: the samples of the
/// second case are orthogonal with equal norms, so that all their axes are eigenvectors of one eigenvalue.
TEST(NthKernel, OfTheReferenceEngineIsThatOfTheCpu) {
  LabelledPoints orthogonal(4, 0, 7);
  const std::vector<double> v(orthogonal.x.view().row(3), orthogonal.x.view().row(3) + 7);
  const double square = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  for (Index i = 0; i < 4; ++i) {  // rows of a reflection
    for (Index j = 0; j < 7; ++j) orthogonal.x(i, j) = (i == j ? 1.0 : 0.0) - 2 * v[usize(i)] * v[usize(j)] / square;
  }
  const LabelledPoints plain(6, 2, 3);
  const auto reference = make_engine("reference", {});
  for (const LabelledPoints* data : {&std::as_const(orthogonal), &plain}) {
    for (const Phi phi : {Phi::relu, Phi::gelu, Phi::erf}) {
      const auto on = [&](const Engine& engine) {
        return nth_kernel({.phi = phi}, data->train(), data->y, {}, {.samples = 256, .seed = 3}, engine).train;
      };
      const NthMatrix fast = on(all_processors());
      const NthMatrix exact = on(*reference);
      const double correction = largest_difference(exact.values, exact.ntk);
      ASSERT_GT(largest_difference(exact.error, Matrix<double>(exact.error.rows(), exact.error.cols())),
                1e-3 * correction);
      EXPECT_LT(largest_difference(fast.values, exact.values), 1e-9 * correction) << to_string(phi);
      EXPECT_LT(largest_difference(fast.error, exact.error), 1e-9 * correction) << to_string(phi);
    }
  }
}

TEST(NthKernel, BitsDoNotDependOnThreads) {
  const LabelledPoints data(70, 5, 33);
  const auto at = [&](int threads) {
    return nth_kernel({.phi = Phi::gelu}, data.train(), data.y, data.test(), {.samples = 300},
                      *make_engine("cpu", {.threads = threads}));
  };
  const NthKernel one = at(1);
  const NthKernel three = at(3);
  EXPECT_TRUE(std::equal(one.train.values.data(), one.train.values.data() + 70 * 70, three.train.values.data()));
  EXPECT_TRUE(std::equal(one.test->error.data(), one.test->error.data() + 5 * 70, three.test->error.data()));
}

TEST(NthKernel, StopsWhenAsked) {
  const LabelledPoints data(30, 0, 5);
  for (const std::optional<double> tolerance : {std::optional<double>(), std::optional(1e-9)}) {
    StopAt stop(3);
    try {
      (void)nth_kernel({.phi = Phi::erf}, data.train(), data.y, {},
                       {.samples = 4096, .tolerance = tolerance, .progress = &stop}, all_processors());
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::interrupted);
    }
  }
}

}  // namespace
}  // namespace widelimit
