#include "widelimit/analysis/spectrum/label_spectrum.hpp"

#include "tests/base/normal_rows.hpp"
#include "tests/base/thrown.hpp"
#include "widelimit/analysis/bounds/label_bound.hpp"
#include "widelimit/analysis/dynamics/descend.hpp"
#include "widelimit/analysis/dynamics/flow.hpp"
#include "widelimit/analysis/spectrum/label_choice.hpp"
#include "widelimit/analysis/spectrum/mode_dynamics.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/network_gram.hpp"
#include "widelimit/network/network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace widelimit::label_spectrum_tests {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// AAᵀ/cols + shift·I, of rank `cols` without shift.
Matrix<double> random_gram(Index n, Index cols, double shift, std::uint64_t seed) {
  const Matrix<double> a = normal_rows(n, cols, seed);
  Matrix<double> k(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      double sum = i == j ? shift : 0.0;
      for (Index c = 0; c < cols; ++c) sum += a(i, c) * a(j, c) / static_cast<double>(cols);
      k(i, j) = k(j, i) = sum;
    }
  }
  return k;
}

Matrix<double> diagonal(const std::vector<double>& values) {
  Matrix<double> k(std::ssize(values), std::ssize(values));
  for (Index i = 0; i < k.rows(); ++i) k(i, i) = values[usize(i)];
  return k;
}

Matrix<double> column(const std::vector<double>& values) {
  Matrix<double> y(std::ssize(values), 1);
  std::copy(values.begin(), values.end(), y.data());
  return y;
}

double squared_error(const double* u, const Matrix<double>& y) {
  double sum = 0;
  for (Index i = 0; i < y.rows() * y.cols(); ++i) sum += (u[i] - y.data()[i]) * (u[i] - y.data()[i]);
  return sum;
}

TEST(KernelSpectrum, DecomposesTheMatrix) {
  for (const Index n : {1, 2, 37}) {
    const Matrix<double> k = random_gram(n, n + 2, 0.1, 5);
    const KernelSpectrum spectrum{GramMatrix(k)};
    const Matrix<double> v = spectrum.eigenvectors();
    ASSERT_EQ(spectrum.rank(), n);
    // Entries are of order 1: a backward stable decomposition leaves n ε ‖K‖.
    const double allowed = 1e-14 * static_cast<double>(n) * spectrum.eigenvalues().front();
    for (Index i = 0; i < n; ++i) {
      EXPECT_EQ(spectrum.eigenvector(i), std::vector<double>(v.view().row(i), v.view().row(i) + n));
      EXPECT_GE(spectrum.eigenvalues()[usize(std::max<Index>(i - 1, 0))], spectrum.eigenvalues()[usize(i)]);
      for (Index j = 0; j < n; ++j) {
        double sum = 0;
        for (Index m = 0; m < n; ++m) sum += spectrum.eigenvalues()[usize(m)] * v(m, i) * v(m, j);
        EXPECT_NEAR(sum, k(i, j), allowed);
      }
    }
    EXPECT_NEAR(*spectrum.stable_rate() * spectrum.eigenvalues().front(), 2, 1e-15);
    EXPECT_NEAR(*spectrum.condition(), spectrum.eigenvalues().front() / spectrum.eigenvalues().back(), 0);
  }
}

/// A matrix that is computed on the fly, with more rows than are read at a time.
TEST(KernelSpectrum, ReadsAMatrixThatIsNotHeld) {
  const Matrix<double> x = normal_rows(300, 3, 6);
  const SampleView view(x.view(), {1, 1, 3});
  const Network network = Network::parse("fc:1");
  const auto engine = make_engine("cpu");
  const Gram k = gram(network, view, {.kind = Kind::ntk}, *engine);
  const KernelSpectrum held(GramMatrix(view_of(k.ntk), *engine));
  const KernelSpectrum read(network_gram(network, view, {.precision = Precision::f64}, *engine));
  EXPECT_EQ(read.rank(), held.rank());
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_NEAR(read.eigenvalues()[i], held.eigenvalues()[i], 1e-13 * held.eigenvalues().front());
  }
}

/// Rounding to float32 perturbs eigenvalues by at most 2⁻²⁴‖K‖₁: 10⁻⁴ is distinguished from 0, 10⁻⁷ is not.
TEST(KernelSpectrum, TellsRoundingFromSmallEigenvalues) {
  const Index n = 100;
  Matrix<float> k(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) k(i, j) = i == j ? 0.01F + (i == 0 ? 0.0F : 1e-4F) : 0.01F;
  }
  k(1, 1) = 0.01F + 1e-7F;
  const KernelSpectrum spectrum{GramMatrix(k)};
  EXPECT_EQ(spectrum.rank(), n - 1);
  EXPECT_GT(spectrum.noise(), 1e-7);
  EXPECT_LT(spectrum.noise(), 1e-5);
}

TEST(KernelSpectrum, EffectiveDimensionOfADiagonal) {
  const KernelSpectrum spectrum{GramMatrix(diagonal({1, 3, 0}))};
  EXPECT_EQ(spectrum.rank(), 2);
  EXPECT_FALSE(spectrum.condition());
  EXPECT_NEAR(spectrum.effective_dimension(1), 3.0 / 4 + 1.0 / 2, 1e-15);
  EXPECT_EQ(thrown_code([&] { (void)spectrum.effective_dimension(0); }), Code::usage);
}

TEST(KernelSpectrum, RefusesWhatIsNoKernel) {
  Matrix<double> bad = diagonal({1, 2});
  bad(0, 1) = bad(1, 0) = std::nan("");
  EXPECT_EQ(thrown_code([&] { (void)KernelSpectrum(GramMatrix(bad)); }), Code::input);
  const Matrix<double> indefinite = diagonal({1, -0.5});
  const Error error = thrown_error([&] { (void)KernelSpectrum(GramMatrix(indefinite)); });
  EXPECT_EQ(error.code(), Code::numerical);
  EXPECT_NE(std::string(error.what()).find("diagonal"), std::string::npos) << error.what();
  const KernelSpectrum spectrum{GramMatrix(diagonal({1, 2}))};
  EXPECT_EQ(thrown_code([&] { (void)LabelSpectrum(spectrum, column({1, std::nan("")}).view()); }), Code::input);
  EXPECT_EQ(thrown_code([&] { (void)LabelSpectrum(spectrum, column({1, 1, 1}).view()); }), Code::input);
  EXPECT_EQ(thrown_code([&] { (void)LabelSpectrum(spectrum, column({0, 0}).view()); }), Code::input);
}

/// Machines use the squared loss without ½: their flow takes half the time, and their descent half the rate.
TEST(LabelSpectrum, PredictsTheLossOfFlowAndDescent) {
  const Index n = 20;
  const Matrix<double> k = random_gram(n, 25, 0, 7);
  const Matrix<double> y = normal_rows(n, 3, 8);
  const KernelSpectrum spectrum{GramMatrix(k)};
  const LabelSpectrum labels(spectrum, y.view());
  FlowOptions flowing;
  flowing.loss.kind = LossKind::squared;
  flowing.lambda = 0;
  flowing.times = {0, 0.1, 1, 10};
  const Trajectory path = flow(GramMatrix(k), y.view(), flowing);
  for (Index m = 0; m < 4; ++m) {
    EXPECT_NEAR(labels.loss(2 * path.times[usize(m)]), squared_error(path.train.view().row(m), y),
                1e-11 * labels.total());
  }
  EXPECT_LT(labels.loss(infinity), 1e-25);
  DescendOptions descending;
  descending.loss.kind = LossKind::squared;
  descending.lambda = 0;
  descending.steps = 50;
  descending.rate = *spectrum.stable_rate() * 0.45;
  const Trajectory steps = descend(GramMatrix(k), y.view(), descending);
  for (const Index m : {0, 1, 2, 50}) {
    EXPECT_NEAR(labels.loss_after(m, 2 * *descending.rate), squared_error(steps.train.view().row(m), y),
                1e-11 * labels.total());
  }
  double cholesky = 0;
  for (Index c = 0; c < 3; ++c) {
    std::vector<double> one;
    for (Index i = 0; i < n; ++i) one.push_back(y(i, c));
    cholesky += *interpolant_norm(GramMatrix(k), one).square;
  }
  // Relative error: condition number times ε, about 10⁴·10⁻¹⁶.
  EXPECT_NEAR(*labels.norm() / cholesky, 1, 1e-9);
  EXPECT_NEAR(*labels.complexity(), std::sqrt(*labels.norm() / 10), 1e-12 * *labels.norm());
  EXPECT_NEAR(labels.cumulative_energy().back(), 1, 1e-14);
}

TEST(LabelSpectrum, TimesInClosedForm) {
  const KernelSpectrum spectrum{GramMatrix(diagonal({2, 0.5}))};
  const LabelSpectrum slow(spectrum, column({0, 3}).view());
  // e^{−2·0.5·t} = ε, and (1 − 0.25)^{2k} ≤ ε.
  EXPECT_NEAR(slow.time_to(0.01), std::log(100), 1e-13);
  EXPECT_EQ(slow.steps_to(0.01, 0.5), static_cast<Index>(std::ceil(std::log(0.01) / (2 * std::log(0.75)))));
  EXPECT_EQ(slow.time_to(1), 0);
  EXPECT_EQ(slow.steps_to(2, 0.5), 0);
  // At η = 1/λ₁ the first direction is learned in one step, at 2/λ₁ never.
  const LabelSpectrum fast(spectrum, column({1, 0}).view());
  EXPECT_EQ(fast.steps_to(1e-30, 0.5), 1);
  EXPECT_EQ(fast.loss_after(0, 0.5), 1);
  EXPECT_EQ(fast.loss_after(7, 1), 1);
  EXPECT_EQ(thrown_code([&] { (void)fast.loss_after(1, 1.01); }), Code::usage);
  EXPECT_EQ(thrown_code([&] { (void)fast.loss(-1); }), Code::usage);
  EXPECT_EQ(thrown_code([&] { (void)fast.time_to(0); }), Code::usage);
  EXPECT_EQ(thrown_code([&] { (void)fast.steps_to(0.1, 1); }), Code::numerical);
  // Between both, the time solves the equation.
  const LabelSpectrum both(spectrum, column({1, 3}).view());
  EXPECT_NEAR(both.loss(both.time_to(0.3)) / both.total(), 0.3, 1e-14);
}

/// Two equal samples with labels 1 and −1: their mean 0 is learned, their difference is not; and a third sample.
TEST(LabelSpectrum, TellsTheFloorOfASingularKernel) {
  Matrix<double> k(3, 3);
  k(0, 0) = k(0, 1) = k(1, 0) = k(1, 1) = 1;
  k(2, 2) = 2;
  const KernelSpectrum spectrum{GramMatrix(k)};
  const LabelSpectrum labels(spectrum, column({1, -1, 1}).view());
  EXPECT_EQ(spectrum.rank(), 2);
  EXPECT_NEAR(labels.floor(), 2.0 / 3, 1e-14);
  EXPECT_NEAR(labels.loss(infinity), 2, 1e-13);
  EXPECT_FALSE(labels.norm());
  EXPECT_TRUE(labels.reaches(0.7));
  EXPECT_FALSE(labels.reaches(0.6));
  const Error error = thrown_error([&] { (void)labels.time_to(0.5); });
  EXPECT_EQ(error.code(), Code::numerical);
  EXPECT_NE(std::string(error.what()).find("0.667"), std::string::npos) << error.what();
  // Only the third direction changes: 2 + e^{−4t} = 0.7·3.
  EXPECT_NEAR(labels.time_to(0.7), -std::log(0.1) / 4, 1e-12);
  // Equal labels have no component in the null space.
  const LabelSpectrum agree(spectrum, column({1, 1, 1}).view());
  EXPECT_NEAR(*agree.norm(), 1 + 0.5, 1e-13);
}

TEST(LabelChoice, ReadsAndWrites) {
  for (const char* text : {"true", "random", "random:0.25", "worst"}) {
    EXPECT_EQ(to_string(parse_label_choice(text)), text);
  }
  for (const char* text : {"", "rand", "random:", "random:2", "random:-0.1", "random:0.3x", "random:nan", "worst:1"}) {
    EXPECT_EQ(thrown_code([&] { (void)parse_label_choice(text); }), Code::usage) << text;
  }
}

/// Compares with all 2⁹ labels up to sign: the result is a local maximum, at least as good as sign(v_n), and among the
/// largest.
TEST(LabelChoice, WorstLabelsHaveALargeNorm) {
  constexpr Index n = 10;
  const Matrix<double> k = random_gram(n, 30, 0, 3);
  const KernelSpectrum spectrum{GramMatrix(k)};
  const auto norm_of = [&](const Matrix<double>& y) { return *LabelSpectrum(spectrum, y.view()).norm(); };
  Matrix<double> worst = label_targets({.kind = LabelKind::worst}, {}, spectrum, 0);
  const double norm = norm_of(worst);
  EXPECT_LE(norm, static_cast<double>(n) / spectrum.eigenvalues().back() * (1 + 1e-12));
  Matrix<double> rounded(n, 1);
  for (Index i = 0; i < n; ++i) {
    rounded(i, 0) = spectrum.eigenvector(n - 1)[usize(i)] < 0 ? -1 : 1;
    worst(i, 0) = -worst(i, 0);
    EXPECT_LE(norm_of(worst), norm * (1 + 1e-9)) << i;
    worst(i, 0) = -worst(i, 0);
  }
  EXPECT_GE(norm, norm_of(rounded) * (1 - 1e-9));
  Index larger = 0;
  for (unsigned bits = 0; bits < 512; ++bits) {
    Matrix<double> y(n, 1);
    for (Index i = 0; i < n; ++i) y(i, 0) = (bits >> i & 1U) != 0 ? -1 : 1;
    larger += norm_of(y) > norm * (1 + 1e-9) ? 1 : 0;
  }
  EXPECT_LE(larger, 512 / 50);
}

TEST(KernelSpectrum, InvertsTheMatrix) {
  const Matrix<double> k = random_gram(7, 20, 0, 5);
  const KernelSpectrum spectrum{GramMatrix(k)};
  const Matrix<double> inverse = spectrum.inverse();
  for (Index i = 0; i < 7; ++i) {
    for (Index j = 0; j < 7; ++j) {
      double sum = 0;
      for (Index m = 0; m < 7; ++m) sum += k(i, m) * inverse(m, j);
      EXPECT_NEAR(sum, i == j ? 1 : 0, 1e-13 * *spectrum.condition());
    }
  }
}

TEST(LabelChoice, RandomLabelsReplaceAShare) {
  const Index n = 3000;
  const std::vector<Index> labels(usize(n), 1);
  const KernelSpectrum spectrum{GramMatrix(diagonal({1, 1}))};
  const std::vector<Index> two{0, 1};
  const GivenLabels given{.classes_of = two, .classes = 2};
  EXPECT_EQ(label_targets({}, given, spectrum, 1)(0, 0), -1);
  EXPECT_EQ(thrown_code([&] { (void)label_targets({}, {.classes_of = labels, .classes = 3}, spectrum, 0); }),
            Code::input);
  const std::vector<Index> one_class{0, 0};
  EXPECT_EQ(thrown_code([&] { (void)label_targets({}, {.classes_of = one_class, .classes = 1}, spectrum, 0); }),
            Code::input);
  // Regression targets are permuted.
  const KernelSpectrum wide{GramMatrix(diagonal(std::vector<double>(usize(200), 1.0)))};
  const Matrix<double> values = normal_rows(200, 1, 4);
  const GivenLabels numbers{.classes_of = {}, .classes = 0, .values = values.view()};
  const Matrix<double> half = label_targets({.kind = LabelKind::random, .share = 0.5}, numbers, wide, 9);
  std::vector<double> before(values.data(), values.data() + 200);
  std::vector<double> after(half.data(), half.data() + 200);
  Index moved = 0;
  for (std::size_t i = 0; i < 200; ++i) moved += before[i] != after[i] ? 1 : 0;
  // Binomial with p = ½, except for fixed points: five standard deviations of √50 ≈ 7.
  EXPECT_NEAR(static_cast<double>(moved), 99, 36);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  EXPECT_EQ(before, after);
}

TEST(LabelChoice, RandomClassesAreUniform) {
  const Index n = 300;
  const std::vector<Index> labels(usize(n), 2);
  const KernelSpectrum spectrum{GramMatrix(diagonal(std::vector<double>(usize(n), 1.0)))};
  const Matrix<double> y = label_targets({.kind = LabelKind::random}, {labels, 3}, spectrum, 1);
  ASSERT_EQ(y.cols(), 3);
  for (Index c = 0; c < 3; ++c) {
    double count = 0;
    for (Index i = 0; i < n; ++i) count += y(i, c);
    EXPECT_NEAR(count, 100, 5 * std::sqrt(300 * 2.0 / 9)) << c;
  }
}

TEST(GeometricSteps, RiseFromTheFirstToTheLast) {
  EXPECT_EQ(geometric_steps(1, 5), (std::vector<Index>{0, 1}));
  EXPECT_EQ(geometric_steps(4, 10), (std::vector<Index>{0, 1, 2, 3, 4}));
  const std::vector<Index> steps = geometric_steps(1000, 20);
  EXPECT_EQ(steps.front(), 0);
  EXPECT_EQ(steps.back(), 1000);
  for (std::size_t k = 1; k < steps.size(); ++k) EXPECT_LT(steps[k - 1], steps[k]);
}

/// A network that is linear in its trained weights has a constant kernel: its errors follow the spectrum up to
/// rounding, and fitted rates equal the eigenvalues.
TEST(ModeDynamics, FollowThePredictionOfALinearNetwork) {
  const Index n = 6;
  const Matrix<double> x = normal_rows(n, 8, 2);
  const Matrix<double> y = normal_rows(n, 2, 3);
  const Network network = Network::parse("dense");
  const SampleView view(x.view(), {1, 1, 8});
  const auto engine = make_engine("cpu");
  const Gram k = gram(network, view, {.kind = Kind::ntk}, *engine);
  const KernelSpectrum spectrum(GramMatrix(view_of(k.ntk), *engine));
  const ModeDynamics found =
      mode_dynamics(network, view, y.view(), spectrum, {.width = 4, .steps = 40, .rate = {}, .memory = {}}, *engine);
  ASSERT_TRUE(found.summary.finished()) << found.summary.message;
  EXPECT_NEAR(found.rate * spectrum.eigenvalues().front(), 0.5, 1e-15);
  const double size = std::sqrt(found.loss.front());
  for (Index r = 0; r < found.measured.rows(); ++r) {
    for (Index i = 0; i < n; ++i) EXPECT_NEAR(found.measured(r, i), found.predicted(r, i), 1e-12 * size);
  }
  EXPECT_LT(found.largest_difference, 1e-12);
  ASSERT_GE(found.rates.size(), 3U);
  for (const ModeRate& rate : found.rates) {
    EXPECT_NEAR(rate.fitted, rate.eigenvalue, 1e-8 * spectrum.eigenvalues().front());
    ASSERT_TRUE(rate.interval);
    EXPECT_LE(rate.interval->first, rate.fitted);
    EXPECT_GE(rate.interval->second, rate.fitted);
  }
}

TEST(ModeDynamics, RefuseARateThatDiverges) {
  const Matrix<double> x = normal_rows(3, 4, 2);
  const Matrix<double> y = normal_rows(3, 1, 3);
  const auto engine = make_engine("cpu");
  const SampleView view(x.view(), {1, 1, 4});
  const KernelSpectrum spectrum{GramMatrix(diagonal({1, 2, 3}))};
  EXPECT_EQ(thrown_error([&] {
              (void)mode_dynamics(Network::parse("dense"), view, y.view(), spectrum, {.rate = 1, .memory = {}},
                                  *engine);
            }).code(),
            Code::usage);
  EXPECT_EQ(thrown_code([&] { ModeOptions{.steps = 0, .rate = {}, .memory = {}}.validate(); }), Code::usage);
}

}  // namespace
}  // namespace widelimit::label_spectrum_tests
