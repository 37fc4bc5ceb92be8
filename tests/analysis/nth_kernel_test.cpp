#include "widelimit/analysis/hierarchy/nth_kernel.hpp"

#include "tests/analysis/labelled_points.hpp"
#include "widelimit/analysis/hierarchy/directions.hpp"
#include "widelimit/analysis/hierarchy/fourth_order.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace widelimit {
namespace {

/// Two implementations on the same directions: matrix products with label weights M, and the tensor entry by entry with
/// LA's Q.
TEST(FourthOrderSum, IsTheDefinition) {
  const LabelledPoints data(7, 3, 4, 0.6);
  const std::vector<Activation> activations{{.phi = Phi::relu},     {.phi = Phi::erf},
                                            {.phi = Phi::tanh},     {.phi = Phi::gelu},
                                            {.phi = Phi::softplus}, {.phi = Phi::rectified_monomial, .degree = 3}};
  for (const Activation& phi : activations) {
    const Matrix<double> h = data.gram_of(phi);
    const LabelWeights weights = label_weights(h, data.y, nullptr);
    const Directions directions(data.x.view().block(0, 0, data.n, 4), true, 1, all_processors());
    Matrix<double> w(10, 4);
    directions.write(0, 0, w.view());
    FourthOrderSum sum(phi, data.x.view(), weights, all_processors());
    sum.add(w.view().block(0, 0, 3, 4));
    sum.add(w.view().block(3, 0, 7, 4));
    Matrix<double> found(10, 7);
    sum.take(found);
    const Matrix<double> wanted = fourth_order_by_definition(phi, data.x.view(), h, data.y, w.view());
    double scale = 0;
    for (Index i = 0; i < wanted.rows() * wanted.cols(); ++i) scale = std::max(scale, std::abs(wanted.data()[i]));
    ASSERT_GT(scale, 0);
    for (Index i = 0; i < wanted.rows(); ++i) {
      for (Index j = 0; j < wanted.cols(); ++j) {
        EXPECT_NEAR(found(i, j) / 10, wanted(i, j), 1e-10 * scale) << to_string(phi.phi) << " " << i << " " << j;
      }
    }
  }
}

/// M + Mᵀ = H⁻¹yyᵀH⁻¹, and M is the integral ∫ r(t)(∫₀ᵗ r)ᵀ: by the trapezoid rule in log t.
TEST(LabelWeights, AreTheIntegralOfResiduals) {
  Matrix<double> h(2, 2);
  h(0, 0) = 2;
  h(1, 1) = 0.5;
  const std::vector<double> y{1, -3};
  const LabelWeights weights = label_weights(h, y, nullptr);
  EXPECT_EQ(weights.unlearnt, 0);
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 2; ++j) {
      double integral = 0;
      constexpr double step = 0.05;
      for (double logarithm = -40; logarithm < 6; logarithm += step) {
        const double t = std::exp(logarithm);
        const double residual = y[usize(i)] * std::exp(-t * h(i, i));
        integral += step * t * residual * y[usize(j)] * -std::expm1(-t * h(j, j)) / h(j, j);
      }
      EXPECT_NEAR(weights.pairs(i, j), integral, 1e-10);
      EXPECT_NEAR(weights.pairs(i, j) + weights.pairs(j, i),
                  weights.coefficients[usize(i)] * weights.coefficients[usize(j)], 1e-13);
    }
  }
}

TEST(NthKernel, IsTheNtkAndASymmetricCorrection) {
  const LabelledPoints data(9, 4, 5, 0.5);
  const Activation phi{.phi = Phi::erf};
  const NthKernel found = nth_kernel(phi, data.train(), data.y, data.test(), {.samples = 512}, all_processors());
  const Matrix<double> h = data.gram_of(phi);
  ASSERT_TRUE(found.test);
  EXPECT_EQ(found.test->values.rows(), 4);
  EXPECT_EQ(found.samples, 512);
  for (Index i = 0; i < 9; ++i) {
    for (Index j = 0; j < 9; ++j) {
      EXPECT_EQ(found.train.ntk(i, j), h(i, j));
      EXPECT_EQ(found.train.values(i, j), found.train.values(j, i));
      EXPECT_GT(found.train.error(i, j), 0);
    }
  }
  // The correction is proportional to 1/m.
  const NthKernel wide =
      nth_kernel(phi, data.train(), data.y, data.test(), {.samples = 512, .width = 64}, all_processors());
  for (Index j = 0; j < 9; ++j) {
    EXPECT_NEAR(64 * (wide.test->values(0, j) - wide.test->ntk(0, j)), found.test->values(0, j) - found.test->ntk(0, j),
                1e-11);
    EXPECT_EQ(64 * wide.test->error(0, j), found.test->error(0, j));
  }
}

/// σ(z) = z: s = z, p = 1, q = r = 0, and E over w of the form is a polynomial in inner products:
/// K⁽⁴⁾ = 2G(⟨i,j⟩ + ⟨i,j⟩) + 2(⟨x,i⟩⟨x',j⟩ + ⟨x',i⟩⟨x,j⟩).
TEST(NthKernel, OfALinearNetworkHasAClosedForm) {
  const LabelledPoints data(3, 0, 4, 0.7);
  const Activation phi{.phi = Phi::identity};
  const NthKernel found = nth_kernel(phi, data.train(), data.y, {}, {.samples = 1 << 14}, all_processors());
  const LabelWeights weights = label_weights(data.gram_of(phi), data.y, nullptr);
  const auto inner = [&](Index i, Index j) {
    double sum = 0;
    for (Index k = 0; k < 4; ++k) sum += data.x(i, k) * data.x(j, k);
    return sum;
  };
  for (Index a = 0; a < 3; ++a) {
    for (Index b = 0; b < 3; ++b) {
      double correction = 0;
      for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j < 3; ++j) {
          correction += weights.pairs(i, j) *
                        (4 * inner(a, b) * inner(i, j) + 2 * (inner(a, i) * inner(b, j) + inner(b, i) * inner(a, j)));
        }
      }
      const double error = found.train.error(a, b);
      EXPECT_NEAR(found.train.values(a, b) - found.train.ntk(a, b), correction, 5 * error);
      EXPECT_LT(error, 0.02 * std::abs(correction) + 0.02);
    }
  }
}

TEST(NthKernel, SaysWhereTheExpansionDoesNotHold) {
  LabelledPoints data(9, 0, 5);
  for (double& y : data.y) y *= 30;  // the correction is quadratic in the labels, the NTK independent of them
  const auto told = [&](double width) {
    const NthOptions options{.samples = 1 << 14, .width = width};
    std::string all;
    for (const auto& remark :
         nth_kernel({.phi = Phi::erf}, data.train(), data.y, {}, options, all_processors()).remarks)
      all += remark.text;
    return all;
  };
  EXPECT_NE(told(1).find("times the NTK at width 1"), std::string::npos) << told(1);
  EXPECT_EQ(told(1e9), "");
}

TEST(NthKernel, SaysWhatIsNotLearntAndWhatAKinkMeans) {
  LabelledPoints data(4, 0, 3);
  for (Index k = 0; k < 3; ++k) data.x(1, k) = data.x(0, k);
  data.y[1] = data.y[0];
  const NthKernel found =
      nth_kernel({.phi = Phi::relu}, data.train(), data.y, {}, {.samples = 4096, .width = 1e6}, all_processors());
  ASSERT_EQ(found.remarks.size(), 2U);
  EXPECT_NE(found.remarks[0].text.find("kink"), std::string::npos);
  EXPECT_NE(found.remarks[1].text.find("1 of 4 eigenvalues"), std::string::npos);
  for (Index j = 0; j < 4; ++j) EXPECT_NEAR(found.train.values(0, j), found.train.values(1, j), 1e-9);
}

TEST(NthKernel, RefusesWhatItCannotRead) {
  const LabelledPoints data(4, 0, 3);
  const auto code = [&](const Activation& phi, const std::vector<double>& y, const NthOptions& options) {
    try {
      (void)nth_kernel(phi, data.train(), y, {}, options, all_processors());
    } catch (const Error& error) {
      return error.code();
    }
    return Code{};
  };
  EXPECT_EQ(code({.phi = Phi::sign}, data.y, {}), Code::usage);
  EXPECT_EQ(code({.phi = Phi::hermite}, data.y, {}), Code::usage);
  EXPECT_EQ(code({.phi = Phi::erf}, {1, 1}, {}), Code::input);
  EXPECT_EQ(code({.phi = Phi::erf}, {1, 1, 1, std::nan("")}, {}), Code::input);
  EXPECT_EQ(code({.phi = Phi::erf}, data.y, {.samples = 8}), Code::usage);
  EXPECT_EQ(code({.phi = Phi::erf}, data.y, {.max_samples = 1000}),
            Code::usage);  // has an effect with a tolerance only
  EXPECT_EQ(code({.phi = Phi::erf}, data.y, {.width = 0}), Code::usage);
  EXPECT_EQ(code({.phi = Phi::erf}, data.y, {.tolerance = -1}), Code::usage);
  EXPECT_EQ(code({.phi = Phi::erf}, data.y, {.memory = 1000}), Code::resource);
  EXPECT_EQ(parse_activation("rbf(gamma=0.5)").gamma, 0.5);
  EXPECT_EQ(parse_activation(" relu ").phi, Phi::relu);
  const auto refusal = [](std::string_view text) -> std::string {
    try {
      (void)parse_activation(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::usage);
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal("realu"), "unknown activation 'realu'; did you mean 'relu'?");
  EXPECT_NE(refusal("dense").find("unknown activation 'dense'"), std::string::npos) << refusal("dense");
  EXPECT_NE(refusal("").find("activations are relu, "), std::string::npos) << refusal("");
  EXPECT_NE(refusal("erf relu").find("several layers"), std::string::npos) << refusal("erf relu");
  EXPECT_NE(refusal("rbf(gamma=x)").find("activation 'rbf(gamma=x)': network text, character 11"), std::string::npos)
      << refusal("rbf(gamma=x)");
}

}  // namespace
}  // namespace widelimit
