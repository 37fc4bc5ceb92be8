#include "widelimit/machine/machine.hpp"

#include "tests/base/thrown.hpp"
#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Points of three clusters on a circle, with their inner products plus a multiple of the identity.
Matrix<double> bunches(const std::vector<Index>& labels) {
  const Index n = std::ssize(labels);
  const auto angle = [&](Index i) {
    return 2.1 * static_cast<double>(labels[static_cast<std::size_t>(i)]) + 0.02 * static_cast<double>(i);
  };
  Matrix<double> k(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) k(i, j) = std::cos(angle(i) - angle(j)) + (i == j ? 0.01 : 0);
  }
  return k;
}

std::vector<Index> labels_of(Index n, Index classes) {
  std::vector<Index> labels;
  for (Index i = 0; i < n; ++i) labels.push_back(i % classes);
  return labels;
}

TEST(Machine, NamesComeBack) {
  for (const Machine machine : {Machine::regression, Machine::ridge, Machine::hard_svm, Machine::svm, Machine::svm2,
                                Machine::svr, Machine::logistic}) {
    EXPECT_EQ(parse_machine(to_string(machine)), machine);
  }
  for (const Scheme scheme : {Scheme::values, Scheme::sign, Scheme::one_hot, Scheme::one_vs_rest, Scheme::one_vs_one,
                              Scheme::softmax, Scheme::one_vs_one_first}) {
    EXPECT_EQ(parse_scheme(to_string(scheme)), scheme);
  }
  EXPECT_EQ(thrown_code([] { (void)parse_machine("svn"); }), Code::usage);
}

TEST(Machine, EveryClassifierTellsBunchesApart) {
  for (const Index classes : {2, 3}) {
    const std::vector<Index> labels = labels_of(12, classes);
    const Matrix<double> k = bunches(labels);
    for (const Machine machine :
         {Machine::regression, Machine::ridge, Machine::hard_svm, Machine::svm, Machine::svm2, Machine::logistic}) {
      const FittedMachine trained = train_classes(k.view(), labels, classes, {.machine = machine, .lambda = 1e-3});
      EXPECT_TRUE(trained.fit.summary.converged()) << to_string(machine);
      EXPECT_EQ(trained.fit.alpha.cols(), output_count(trained.scheme, classes));
      const Matrix<double> g = decision(trained.fit, k.view());
      EXPECT_EQ(classes_of(trained.scheme, classes, g.view()), labels) << to_string(machine) << ' ' << classes;
    }
    if (classes == 2) continue;
    const FittedMachine rest =
        train_classes(k.view(), labels, classes, {.lambda = 1e-3, .scheme = Scheme::one_vs_rest});
    EXPECT_EQ(classes_of(rest.scheme, classes, decision(rest.fit, k.view()).view()), labels);
  }
}

TEST(Machine, RefusesWhatItCannotFit) {
  const std::vector<Index> labels = labels_of(6, 3);
  const Matrix<double> k = bunches(labels);
  EXPECT_EQ(thrown_code([&] { (void)train_classes(k.view(), labels, 3, {.machine = Machine::svr}); }), Code::usage);
  EXPECT_EQ(thrown_code([&] { (void)train_classes(k.view(), labels, 4, {}); }), Code::input);
  EXPECT_EQ(thrown_code([&] { (void)train_classes(k.view(), labels, 2, {}); }), Code::input);
  EXPECT_EQ(thrown_code([&] { (void)train_classes(k.view(), std::vector<Index>(6, 0), 1, {}); }), Code::input);
  EXPECT_EQ(thrown_code([&] { (void)train_classes(k.view(), {}, 2, {}); }), Code::input);
  EXPECT_EQ(thrown_code([&] { (void)train_classes(k.view(), labels, 3, {.scheme = Scheme::softmax}); }), Code::usage);
  const Matrix<double> targets(6, 1);
  EXPECT_EQ(thrown_code([&] { (void)train_values(k.view(), targets.view(), {.machine = Machine::svm}); }), Code::usage);
  EXPECT_EQ(thrown_code([&] { (void)classes_of(Scheme::values, 0, targets.view()); }), Code::usage);
}

}  // namespace
}  // namespace widelimit
