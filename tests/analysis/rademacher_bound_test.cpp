#include "widelimit/analysis/bounds/rademacher_bound.hpp"

#include "tests/analysis/bound_fixture.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/svm/svm.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

TEST(ClippedLoss, ConstantsHoldOnAGrid) {
  for (const LossKind kind :
       {LossKind::squared, LossKind::hinge, LossKind::squared_hinge, LossKind::insensitive, LossKind::logistic}) {
    for (const ClippedLoss& loss : {error_loss({kind}), clipped_loss({kind}, 0.3), clipped_loss({kind}, 7.0)}) {
      double steepest = 0;
      for (int i = -4000; i < 4000; ++i) {
        const double z = i * 0.002;
        const double here = loss.value(z, 1);
        EXPECT_GE(here, 0);
        EXPECT_LE(here, loss.range());
        steepest = std::max(steepest, std::fabs(loss.value(z + 0.002, 1) - here) / 0.002);
      }
      EXPECT_LE(steepest, loss.lipschitz() * (1 + 1e-9)) << to_string(kind) << loss.clip;
      EXPECT_GE(steepest, loss.lipschitz() * 0.99) << to_string(kind) << loss.clip;
    }
    for (const double z : {0.0, -1e-9, -0.5, -3.0}) EXPECT_GE(error_loss({kind}).value(z, 1), 1 - 1e-12);
    EXPECT_EQ(error_loss({kind}).range(), 1);
  }
  EXPECT_DOUBLE_EQ(error_loss({LossKind::logistic}).lipschitz(), 0.5 / std::log(2.0));
}

TEST(ClippedLoss, RefusesWhatIsNotBounded) {
  EXPECT_EQ(bound_test::code_thrown([] { (void)clipped_loss({LossKind::softmax}, 1); }), Code::usage);
  EXPECT_EQ(bound_test::code_thrown([] { (void)error_loss({LossKind::softmax}); }), Code::usage);
  EXPECT_EQ(bound_test::code_thrown([] { (void)error_loss({LossKind::insensitive, 1.0}); }), Code::input);
  for (const double clip : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    EXPECT_EQ(bound_test::code_thrown([&] { (void)clipped_loss({}, clip); }), Code::input);
  }
}

/// K = diag(4, 1), α = (½, −½): g = (2, −½), B² = 1 + ¼, tr K = 5, ramp losses 0 and ½.
TEST(RademacherBound, ByHand) {
  Matrix<double> k(2, 2);
  k(0, 0) = 4;
  k(1, 1) = 1;
  FittedMachine trained{.machine = Machine::svm, .scheme = Scheme::sign, .classes = 2, .fit = {}};
  trained.fit.alpha = Matrix<double>(2, 1);
  trained.fit.alpha(0, 0) = 0.5;
  trained.fit.alpha(1, 0) = -0.5;
  trained.fit.bias = {0};
  const std::vector<Index> labels{1, 0};
  const RademacherBound bound = rademacher_bound(AnyView(k.view()), trained, labels, {.delta = 0.1});
  EXPECT_GE(bound.size.norm, std::sqrt(1.25));  // rounded upwards by the rounding error of αᵀKα
  EXPECT_NEAR(bound.size.norm, std::sqrt(1.25), 1e-14);
  EXPECT_DOUBLE_EQ(bound.textbook.empirical, 0.25);
  EXPECT_NEAR(bound.textbook.complexity, std::sqrt(1.25 * 5), 2e-14);
  EXPECT_DOUBLE_EQ(bound.textbook.confidence, 3 * std::sqrt(std::log(20.0) / 4));
  EXPECT_TRUE(bound.vacuous(bound.textbook));
  const RademacherBound squared =
      rademacher_bound(AnyView(k.view()), trained, labels, {.loss = Loss{.kind = LossKind::squared}});
  EXPECT_DOUBLE_EQ(squared.textbook.empirical, 0.625);  // min(1, 1) and ¼
  EXPECT_NEAR(squared.textbook.complexity, 2 * std::sqrt(1.25 * 5), 4e-14);
  // Each stratum separately, as in the theorem.
  double least = HUGE_VAL;
  for (int power = -30; power <= 30; ++power) {
    const double radius = std::exp2(power);
    const double s = radius / std::sqrt(1.25);
    const double share = 2.0 / 3 / ((std::abs(power) + 1) * (std::abs(power) + 2));
    least = std::min(least, (std::max(0.0, 1 - 2 * s) + std::max(0.0, 1 - s / 2)) / 2 + radius * std::sqrt(5.0) +
                                3 * std::sqrt(std::log(2 / (0.1 * share)) / 4));
  }
  ASSERT_TRUE(bound.uniform);
  EXPECT_NEAR(bound.uniform->terms.value(), least, 1e-12);
}

TEST(RademacherBound, SharesOfDeltaSumToOne) {
  double sum = 0;
  for (int power = -100'000; power <= 100'000; ++power) {
    sum += 2.0 / 3 / ((std::abs(power) + 1.0) * (std::abs(power) + 2.0));
  }
  EXPECT_NEAR(sum, 1, 2e-5);
  EXPECT_LE(sum, 1);
}

/// αᵀKα of cancelling coefficients is rounding error; a norm of 0 would give an invalid bound.
TEST(RademacherBound, NormIsNotBelowWhatRoundingHides) {
  Matrix<double> k(2, 2);
  k(0, 0) = k(0, 1) = k(1, 0) = 1;
  k(1, 1) = 1 + 0x1p-52;
  Fit fit;
  fit.alpha = Matrix<double>(2, 1);
  fit.alpha(0, 0) = 1e8;
  fit.alpha(1, 0) = -1e8;
  fit.bias = {0};
  const std::vector<double> y{0, 0};
  const RademacherBound bound = rademacher_bound(AnyView(k.view()), fit, y, {});
  EXPECT_GE(bound.size.norm, 1e8 * 0x1p-26);  // √(1e16·2⁻⁵²)
}

TEST(RademacherBound, RefusesAKernelWithoutANorm) {
  Matrix<double> k(2, 2);
  k(0, 0) = k(1, 1) = 1;
  k(0, 1) = k(1, 0) = 1.001;
  Fit fit;
  fit.alpha = Matrix<double>(2, 1);
  fit.alpha(0, 0) = fit.alpha(1, 0) = 1;  // still αᵀKα > 0
  fit.bias = {0};
  const std::vector<double> y{1, 2};
  try {
    (void)rademacher_bound(AnyView(k.view()), fit, y, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::input);
    EXPECT_NE(std::string(error.what()).find("to its diagonal"), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW((void)rademacher_bound(AnyView(k.view()), fit, y, {.check_definite = false}));
}

TEST(RademacherBound, NumbersAreNotRescaled) {
  Matrix<double> k(3, 3);
  for (Index i = 0; i < 3; ++i) k(i, i) = 1;
  Fit fit;
  fit.alpha = Matrix<double>(3, 1);
  for (Index i = 0; i < 3; ++i) fit.alpha(i, 0) = static_cast<double>(i);
  fit.bias = {0.5};
  const std::vector<double> y{0.5, 2.0, 9.0};
  const RademacherBound bound = rademacher_bound(
      AnyView(k.view()), fit, y, {.loss = Loss{.kind = LossKind::insensitive, .epsilon = 0.1}, .clip = 2.0});
  EXPECT_NEAR(bound.textbook.empirical, (0 + 0.4 + 2) / 3, 1e-15);
  EXPECT_NEAR(bound.textbook.complexity, 2 * (std::sqrt(5.0 * 3) / 3 + 0.5 / std::sqrt(3.0)), 2e-14);
  EXPECT_NEAR(bound.textbook.confidence, 6 * std::sqrt(std::log(40.0) / 6), 1e-15);
  ASSERT_TRUE(bound.uniform);
  EXPECT_EQ(bound.uniform->scale, 1);
  EXPECT_EQ(bound.uniform->radius, 4);  // √5 rounded up to a power of 2; ½ is a power of 2
  EXPECT_NEAR(bound.uniform->terms.complexity, 2 * (4 * std::sqrt(3.0) / 3 + 0.5 / std::sqrt(3.0)), 1e-15);
}

TEST(RademacherBound, HardlyDependsOnTheScaleOfTheKernel) {
  // 4·K with α/4 is the same function with the same B√(tr K), one stratum lower, whose share of δ differs by a factor
  // of at most 3: 3√(log(3x)/2n) − 3√(log x/2n) ≤ 3·log 3/√(8n·log(2/δ)) = 0.096 for n = 40.
  const bound_test::Draw draw = bound_test::two_clouds(40, 3, 0);
  const AnyView k(draw.k.view());
  FittedMachine trained = bound_test::svm_on(draw, 0.1);
  const RademacherBound first = rademacher_bound(k, trained, draw.labels);
  Matrix<double> larger(40, 40);
  for (Index i = 0; i < 1600; ++i) larger.data()[i] = 4 * draw.k.data()[i];
  for (Index i = 0; i < 40; ++i) trained.fit.alpha(i, 0) /= 4;
  const RademacherBound second = rademacher_bound(AnyView(larger.view()), trained, draw.labels);
  EXPECT_NEAR(first.textbook.value(), second.textbook.value(), 1e-12);
  EXPECT_NEAR(first.uniform->terms.value(), second.uniform->terms.value(), 0.096);
}

/// Khinchine: E_σ sup_{‖β‖≤B} (1/n)Σσᵢ⟨β,Φ(xᵢ)⟩ = (B/n) E√(σᵀKσ) ≤ B√(tr K)/n.
TEST(RademacherBound, ComplexityIsAboveItsMonteCarloValue) {
  for (const Index n : {1, 2, 37}) {
    const bound_test::Draw draw = bound_test::two_clouds(n, 11, 0);
    double trace = 0;
    for (Index i = 0; i < n; ++i) trace += draw.k(i, i);
    const Random random(5);
    constexpr int draws = 400;
    double sum = 0;
    double squares = 0;
    for (int d = 0; d < draws; ++d) {
      double form = 0;
      const auto sign = [&](Index i) {
        return random.bits(static_cast<std::uint64_t>(d * n + i)) % 2 == 0 ? 1.0 : -1.0;
      };
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) form += sign(i) * sign(j) * draw.k(i, j);
      }
      sum += std::sqrt(std::max(form, 0.0));
      squares += std::max(form, 0.0);
    }
    const double mean = sum / draws;
    const double error = std::sqrt(std::max(squares / draws - mean * mean, 0.0) / draws);
    EXPECT_LE(mean, std::sqrt(trace) + 4 * error) << n;
    EXPECT_GE(mean, std::sqrt(trace / 2) - 4 * error) << n;  // lower Khinchine inequality
  }
}

TEST(RademacherBound, HoldsOnFreshSamplesAsOftenAsItSays) {
  constexpr int trials = WIDELIMIT_SANITIZED != 0 ? 10 : 40;
  int broken = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const bound_test::Draw draw = bound_test::two_clouds(150, static_cast<std::uint64_t>(trial), 200);
    const FittedMachine trained = bound_test::svm_on(draw, 1);
    const RademacherBound bound = rademacher_bound(AnyView(draw.k.view()), trained, draw.labels, {.delta = 0.2});
    const double error = bound_test::error_on_test(draw, trained);
    broken += bound.uniform->terms.value() < error ? 1 : 0;
    EXPECT_LT(bound.uniform->terms.value(), 1) << "vacuous, which would test nothing";
  }
  EXPECT_LE(broken, trials / 5);
}

TEST(RademacherBound, RandomLabelsHaveLargerOnes) {
  bound_test::Draw draw = bound_test::two_clouds(120, 2, 0);
  const FittedMachine true_labels = bound_test::svm_on(draw, 0.01);
  const RademacherBound first = rademacher_bound(AnyView(draw.k.view()), true_labels, draw.labels);
  draw.labels = flip_labels(draw.labels, 2, 0.5, 9);
  const FittedMachine random = bound_test::svm_on(draw, 0.01);
  const RademacherBound second = rademacher_bound(AnyView(draw.k.view()), random, draw.labels);
  EXPECT_GT(second.textbook.value(), first.textbook.value());
  EXPECT_GT(second.uniform->terms.value(), first.uniform->terms.value());
}

TEST(RademacherBound, SeveralClassesByTheRampOfTheMargin) {
  const bound_test::Draw draw = bound_test::two_clouds(60, 4, 0);
  std::vector<Index> labels(60);
  for (std::size_t i = 0; i < 60; ++i) labels[i] = static_cast<Index>(i % 3);
  for (const Machine machine : {Machine::svm, Machine::ridge, Machine::logistic}) {
    const FittedMachine trained = train_classes(AnyView(draw.k.view()), labels, 3, {.machine = machine, .lambda = 0.5});
    const RademacherBound bound = rademacher_bound(AnyView(draw.k.view()), trained, labels);
    double square = 0;
    const Matrix<double> g = decision(trained.fit, AnyView(draw.k.view()));
    for (Index i = 0; i < 60; ++i) {
      for (Index j = 0; j < 3; ++j) square += trained.fit.alpha(i, j) * g(i, j);
    }
    EXPECT_NEAR(bound.size.norm, std::sqrt(square), 1e-9 * std::sqrt(square));
    EXPECT_DOUBLE_EQ(bound.size.outputs, machine == Machine::svm ? 2.0 : 2 * std::sqrt(3.0));
    EXPECT_EQ(bound_test::code_thrown([&] {
                (void)rademacher_bound(AnyView(draw.k.view()), trained, labels,
                                       {.loss = Loss{.kind = LossKind::squared}});
              }),
              Code::usage);
  }
}

TEST(RademacherBound, TheZeroFunctionHasOne) {
  Matrix<double> k(5, 5);
  FittedMachine trained{.machine = Machine::svm, .scheme = Scheme::sign, .classes = 2, .fit = {}};
  trained.fit.alpha = Matrix<double>(5, 1);
  trained.fit.bias = {0};
  const RademacherBound bound = rademacher_bound(AnyView(k.view()), trained, std::vector<Index>{0, 1, 0, 1, 1});
  EXPECT_EQ(bound.textbook.empirical, 1);
  EXPECT_EQ(bound.textbook.complexity, 0);
  EXPECT_TRUE(std::isfinite(bound.uniform->terms.value()));
}

TEST(RademacherBound, RefusesBadInput) {
  const bound_test::Draw draw = bound_test::two_clouds(10, 4, 0);
  const AnyView k(draw.k.view());
  FittedMachine trained = bound_test::svm_on(draw, 1);
  for (const double delta : {0.0, 1.0, -0.1, 2.0, std::nan("")}) {
    EXPECT_EQ(bound_test::code_thrown([&] { (void)rademacher_bound(k, trained, draw.labels, {.delta = delta}); }),
              Code::input);
  }
  const auto fewer = std::span(draw.labels).first(9);
  EXPECT_EQ(bound_test::code_thrown([&] { (void)rademacher_bound(k, trained, fewer); }), Code::input);
  EXPECT_EQ(bound_test::code_thrown([&] { (void)rademacher_bound(k, trained, draw.labels, {.clip = 2.0}); }),
            Code::usage);
  const Matrix<double> none;
  EXPECT_EQ(bound_test::code_thrown([&] { (void)rademacher_bound(AnyView(none.view()), trained, {}); }), Code::input);
  Matrix<double> negative(10, 10);
  for (Index i = 0; i < 10; ++i) negative(i, i) = -1;
  EXPECT_EQ(bound_test::code_thrown([&] { (void)rademacher_bound(AnyView(negative.view()), trained, draw.labels); }),
            Code::input);
  EXPECT_EQ(bound_test::code_thrown([] { (void)fixed_norm_bound({.samples = 0}, 0, {}); }), Code::input);
  EXPECT_EQ(
      bound_test::code_thrown([] { (void)fixed_norm_bound({.samples = 1, .norm = 1e300, .trace = 1e300}, 0, {}); }),
      Code::numerical);
}

}  // namespace
}  // namespace widelimit
