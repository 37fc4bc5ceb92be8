#include "widelimit/analysis/bounds/label_bound.hpp"

#include "tests/analysis/bound_fixture.hpp"
#include "widelimit/analysis/bounds/rademacher_bound.hpp"
#include "widelimit/machine/ridge/ridge.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

std::vector<double> label_signs(const std::vector<Index>& labels) {
  std::vector<double> y;
  for (const Index label : labels) y.push_back(label == 1 ? 1.0 : -1.0);
  return y;
}

/// H = [2 1; 1 2], y = (1, −1): H⁻¹y = y, so yᵀH⁻¹y = 2.
TEST(LabelBound, ByHand) {
  Matrix<double> h(2, 2);
  h(0, 0) = h(1, 1) = 2;
  h(0, 1) = h(1, 0) = 1;
  const LabelBound bound = label_bound(AnyView(h.view()), std::vector<double>{1, -1}, {.delta = 0.1});
  ASSERT_TRUE(bound.norm.square);
  EXPECT_NEAR(*bound.norm.square, 2, 1e-14);
  EXPECT_NEAR(*bound.a_priori, std::sqrt(2.0), 1e-14);
  EXPECT_NEAR(*bound.scaled, std::sqrt(2.0 * 4), 1e-14);
  EXPECT_NEAR(*bound.absolute, std::sqrt(2.0 * 4) + std::sqrt(std::log(10.0) / 2), 1e-14);
  EXPECT_TRUE(LabelBound::vacuous(*bound.a_priori));
}

TEST(LabelBound, PrintedAndScaledAgreeAtOneHalf) {
  bound_test::Draw draw = bound_test::two_clouds(30, 8, 0);
  for (Index i = 0; i < 900; ++i) draw.k.data()[i] *= 0.5;  // the Gaussian kernel has 1 on its diagonal
  for (Index i = 0; i < 30; ++i) draw.k(i, i) += 1e-3;
  for (Index i = 0; i < 900; ++i) draw.k.data()[i] *= 0.5 / 0.501;
  const LabelBound bound = label_bound(AnyView(draw.k.view()), label_signs(draw.labels));
  EXPECT_NEAR(*bound.a_priori, *bound.scaled, 1e-9 * *bound.scaled);
  for (Index i = 0; i < 900; ++i) draw.k.data()[i] *= 100;
  EXPECT_NEAR(*label_bound(AnyView(draw.k.view()), label_signs(draw.labels)).scaled, *bound.scaled,
              1e-9 * *bound.scaled);
}

TEST(LabelBound, IsThatOfKernelRegression) {
  bound_test::Draw draw = bound_test::two_clouds(37, 5, 0);
  for (Index i = 0; i < 37; ++i) draw.k(i, i) += 0.1;
  const std::vector<double> y = label_signs(draw.labels);
  const LabelBound label = label_bound(AnyView(draw.k.view()), y);
  FittedMachine trained{.machine = Machine::regression, .scheme = Scheme::sign, .classes = 2, .fit = {}};
  trained.fit = fit_regression(AnyView(draw.k.view()), {y.data(), 37, 1, 1});
  const RademacherBound machine = rademacher_bound(AnyView(draw.k.view()), trained, draw.labels);
  EXPECT_NEAR(machine.size.norm, std::sqrt(*label.norm.square), 1e-9);
  EXPECT_NEAR(machine.textbook.complexity, *label.scaled, 1e-9);
  EXPECT_NEAR(machine.uniform->terms.value(), label.uniform->terms.value(), 1e-9);
}

TEST(LabelBound, RandomLabelsAreLarger) {
  bound_test::Draw draw = bound_test::two_clouds(80, 5, 0);
  for (Index i = 0; i < 80; ++i) draw.k(i, i) += 0.1;
  const LabelBound true_labels = label_bound(AnyView(draw.k.view()), label_signs(draw.labels));
  const LabelBound random = label_bound(AnyView(draw.k.view()), label_signs(flip_labels(draw.labels, 2, 0.5, 1)));
  EXPECT_GT(*random.a_priori, *true_labels.a_priori);
  EXPECT_GT(*random.absolute, *true_labels.absolute);
}

TEST(LabelBound, EqualSamplesWithDifferentLabelsHaveNone) {
  for (const Index n : {2, 37}) {
    bound_test::Draw draw = bound_test::two_clouds(n, 5, 0);
    for (Index i = 0; i < n; ++i) {
      draw.k(i, n - 1) = draw.k(i, 0);
      draw.k(n - 1, i) = draw.k(0, i);
    }
    draw.k(n - 1, n - 1) = draw.k(0, n - 1) = draw.k(n - 1, 0) = draw.k(0, 0);
    for (Index i = 1; i < n - 1; ++i) draw.k(i, i) += 1;
    std::vector<double> y = label_signs(draw.labels);
    y.back() = -y.front();
    const LabelBound none = label_bound(AnyView(draw.k.view()), y);
    EXPECT_FALSE(none.norm.square);
    EXPECT_FALSE(none.a_priori || none.scaled || none.absolute || none.uniform);
    EXPECT_NE(none.norm.message.find("singular"), std::string::npos) << none.norm.message;
    // Equal labels: the second sample is redundant.
    y.back() = y.front();
    const LabelBound twice = label_bound(AnyView(draw.k.view()), y);
    ASSERT_TRUE(twice.norm.square);
    const AnyView once(draw.k.view().block(0, 0, n - 1, n - 1));
    const LabelBound single = label_bound(once, std::span(y).first(static_cast<std::size_t>(n - 1)));
    EXPECT_NEAR(*twice.norm.square, *single.norm.square, 1e-9 * *single.norm.square);
  }
}

TEST(LabelBound, OfNumbersIsNotRescaled) {
  Matrix<float> h(1, 1);
  h(0, 0) = 4;
  const LabelBound bound = label_bound(AnyView(h.view()), std::vector<double>{6});
  EXPECT_DOUBLE_EQ(*bound.norm.square, 9);
  EXPECT_EQ(bound.uniform->scale, 1);
  EXPECT_EQ(bound.uniform->radius, 4);
}

TEST(LabelBound, RefusesBadInput) {
  Matrix<double> h(2, 2);
  h(0, 0) = h(1, 1) = 1;
  const std::vector<double> y{1, -1};
  for (const double delta : {0.0, 1.0, std::nan("")}) {
    EXPECT_EQ(bound_test::code_thrown([&] { (void)label_bound(AnyView(h.view()), y, {.delta = delta}); }), Code::input);
  }
  EXPECT_EQ(bound_test::code_thrown([&] { (void)label_bound(AnyView(h.view()), std::vector<double>{1}); }),
            Code::input);
  EXPECT_EQ(bound_test::code_thrown([&] {
              (void)label_bound(AnyView(h.view()), std::vector<double>{1, std::nan("")});
            }),
            Code::input);
  EXPECT_EQ(bound_test::code_thrown([&] { (void)label_bound(AnyView(Matrix<double>().view()), {}); }), Code::input);
  h(0, 1) = h(1, 0) = 3;
  EXPECT_EQ(bound_test::code_thrown([&] { (void)label_bound(AnyView(h.view()), y); }), Code::input);
}

TEST(NoisyLabelBound, ByHandAndLeastWhereItSays) {
  EXPECT_DOUBLE_EQ(noisy_label_shape({0.25}, 16, 4, 4), (2 * 2 + 0.5) * 2);
  const double best = noisy_label_best_lambda(16, 4);
  EXPECT_DOUBLE_EQ(best, 0.5);
  EXPECT_DOUBLE_EQ(noisy_label_shape({0}, 16, 4, best), 2 * std::sqrt(2.0));
  for (const double factor : {0.5, 0.9, 1.1, 2.0}) {
    EXPECT_GT(noisy_label_shape({0}, 16, 4, factor * best), noisy_label_shape({0}, 16, 4, best));
  }
}

TEST(NoisyLabelBound, CleanErrorsAreThoseOfTheNoisyOnesWithoutTheNoise) {
  EXPECT_DOUBLE_EQ(clean_error_bound({0}, 0.3), 0.3);
  EXPECT_DOUBLE_EQ(clean_error_bound({0.2}, 0.5), 0.5);
  EXPECT_NEAR(clean_error_bound({0.2}, 0.26), 0.1, 1e-15);
  EXPECT_EQ(clean_error_bound({0.2}, 0.1), 0);
}

TEST(NoisyLabelBound, GuaranteeHoldsOnCleanLabels) {
  bound_test::Draw draw = bound_test::two_clouds(400, 21, 500);
  draw.labels = flip_labels(draw.labels, 2, 0.1, 3);
  const FittedMachine trained = bound_test::svm_on(draw, 3);
  const RademacherBound bound = rademacher_bound(AnyView(draw.k.view()), trained, draw.labels);
  const double clean = clean_error_bound({0.1}, bound.uniform->terms.value());
  EXPECT_LT(clean, 1);
  EXPECT_GE(clean, bound_test::error_on_test(draw, trained));
}

TEST(NoisyLabelBound, RefusesBadInput) {
  for (const double flip : {-0.1, 0.5, 0.7, std::nan("")}) {
    EXPECT_EQ(bound_test::code_thrown([&] { (void)clean_error_bound({flip}, 0.3); }), Code::input);
    EXPECT_EQ(bound_test::code_thrown([&] { (void)noisy_label_shape({flip}, 1, 1, 1); }), Code::input);
  }
  EXPECT_EQ(bound_test::code_thrown([] { (void)noisy_label_shape({0}, 1, 1, 0); }), Code::input);
  EXPECT_EQ(bound_test::code_thrown([] { (void)noisy_label_shape({0}, 1, 0, 1); }), Code::input);
  EXPECT_EQ(bound_test::code_thrown([] { (void)noisy_label_best_lambda(0, 1); }), Code::input);
}

}  // namespace
}  // namespace widelimit
