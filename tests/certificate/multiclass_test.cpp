#include "tests/base/normal_rows.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/functionals.hpp"

#include "cone_machine.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

using test::machine_of;
using test::rows_of;

Index class_at(const Model& model, const double* x) {
  Matrix<double> g(1, model.outputs());
  for (Index o = 0; o < model.outputs(); ++o) g(0, o) = static_cast<double>(test::exact_output(model, 1, x, o));
  return classes_of(model.scheme, std::ssize(model.classes), g.view()).front();
}

class CertifyScheme : public testing::TestWithParam<Scheme> {};

TEST_P(CertifyScheme, KeepsTheClassInsideAndLosesItAtTheAttack) {
  constexpr Index classes = 4;
  const Scheme scheme = GetParam();
  const Matrix<double> support = normal_rows(12, 3, 5);
  const Matrix<double> alpha = normal_rows(12, output_count(scheme, classes), 6);
  const Model model = machine_of("eq2", support, alpha, scheme, classes);
  const Matrix<double> x = normal_rows(20, 3, 7);
  std::vector<Index> labels;
  for (Index k = 0; k < x.rows(); ++k) labels.push_back(class_at(model, x.view().row(k)));
  const Certificates found =
      certify(model, rows_of(x), labels,
              {.method = CertificateMethod::interval, .attack = AttackOptions{}, .keep_attacked = true});
  const Random random(8);
  int certified = 0, attacked = 0;
  for (Index k = 0; k < x.rows(); ++k) {
    EXPECT_TRUE(found.correct[usize(k)]);
    EXPECT_LE(found.radius[usize(k)], found.attack[usize(k)]);
    if (std::isfinite(found.attack[usize(k)])) {
      ++attacked;
      EXPECT_NE(class_at(model, found.attacked.view().row(k)), labels[usize(k)]);
    }
    certified += found.radius[usize(k)] > 0 ? 1 : 0;
    for (std::uint64_t trial = 0; trial < 50; ++trial) {
      double moved[3];
      for (std::uint64_t j = 0; j < 3; ++j) {
        const double z = random.uniform(trial * 3 + j) > 0.5 ? 1 : -1;
        moved[j] = x(k, static_cast<Index>(j)) + found.radius[usize(k)] * z;
      }
      EXPECT_EQ(class_at(model, moved), labels[usize(k)]);
    }
  }
  EXPECT_GE(certified, 12);  // tied votes have no certificate
  EXPECT_GE(attacked, 12);
}

INSTANTIATE_TEST_SUITE_P(Schemes, CertifyScheme,
                         testing::Values(Scheme::one_hot, Scheme::one_vs_rest, Scheme::one_vs_one, Scheme::softmax,
                                         Scheme::one_vs_one_first));

TEST(Functionals, OfOneAgainstOneAreTheDuelsOfAClassThatWinsThemAll) {
  // Outputs (0,1) (0,2) (1,2): class 1 wins both duels.
  Matrix<double> g(2, 3);
  g(0, 0) = -1, g(0, 1) = 3, g(0, 2) = 2;
  const PointFunctionals all = functionals_of(Scheme::one_vs_one, 3, g.view(), 0, 1);
  EXPECT_TRUE(all.correct && all.decided);
  ASSERT_EQ(all.functionals.size(), 2U);
  EXPECT_EQ(all.functionals[0].minus, 0);
  EXPECT_EQ(all.functionals[1].plus, 2);
  EXPECT_EQ(all.margin, 1);
  // A cycle of three classes with one vote each: sums decide, which signs alone do not bound.
  g(1, 0) = 5, g(1, 1) = -1, g(1, 2) = 1;
  const PointFunctionals circle = functionals_of(Scheme::one_vs_one, 3, g.view(), 1, 0);
  EXPECT_TRUE(circle.correct);
  EXPECT_FALSE(circle.decided);
  // With one_vs_one_first, the signs of all duels decide, and no other class is correct.
  const PointFunctionals first = functionals_of(Scheme::one_vs_one_first, 3, g.view(), 1, 0);
  EXPECT_TRUE(first.correct && first.decided);
  EXPECT_EQ(first.functionals.size(), 3U);
  EXPECT_EQ(first.margin, 1);
  const PointFunctionals second = functionals_of(Scheme::one_vs_one_first, 3, g.view(), 1, 1);
  EXPECT_FALSE(second.correct || second.decided);
}

}  // namespace
}  // namespace widelimit
