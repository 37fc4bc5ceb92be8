#include "widelimit/analysis/scores.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

Matrix<double> table_of(const std::vector<std::vector<double>>& rows) {
  Matrix<double> table(std::ssize(rows), std::ssize(rows.front()));
  for (Index i = 0; i < table.rows(); ++i) {
    for (Index j = 0; j < table.cols(); ++j) {
      table(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    }
  }
  return table;
}

ValueScores of_column(const std::vector<double>& y, const std::vector<double>& g) {
  return value_scores({y.data(), std::ssize(y), 1, 1}, {g.data(), std::ssize(g), 1, 1});
}

bool has_note(const Score& score, const std::vector<std::string>& classes, const std::string& part) {
  for (const std::string& note : missing_scores(score, classes)) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

/// Errors 1, −1, 2 of targets 1, 3, 8 with mean 4: squares 6 of 26.
TEST(ValueScores, AreThoseComputedByHand) {
  const ValueScores scores = of_column({1, 3, 8}, {0, 4, 6});
  EXPECT_EQ(scores.samples, 3);
  EXPECT_DOUBLE_EQ(scores.squared_error, 2);
  EXPECT_DOUBLE_EQ(scores.root_squared_error(), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(scores.absolute_error, 4.0 / 3);
  ASSERT_TRUE(scores.r2);
  EXPECT_DOUBLE_EQ(*scores.r2, 1 - 6.0 / 26);
}

TEST(ValueScores, OfColumnsAreMeans) {
  const Matrix<double> y = table_of({{1, 10}, {3, 20}, {8, 60}});
  const Matrix<double> g = table_of({{0, 10}, {4, 20}, {6, 60}});
  const ValueScores scores = value_scores(y.view(), g.view());
  EXPECT_DOUBLE_EQ(scores.squared_error, 1);
  EXPECT_DOUBLE_EQ(*scores.r2, (1 - 6.0 / 26 + 1) / 2);
}

TEST(ValueScores, OfAConstantHaveNoR2AndSaySo) {
  const Score scores = of_column({0.1, 0.1, 0.1}, {0.1, 0.2, 0.1});
  EXPECT_FALSE(std::get<ValueScores>(scores).r2);
  EXPECT_TRUE(has_note(scores, {}, "constant"));
  EXPECT_TRUE(missing_scores(of_column({1, 2}, {1, 2}), {}).empty());
  EXPECT_FALSE(of_column({5}, {4}).r2);
}

/// R² stays accurate although plain sums of squares overflow or underflow.
TEST(ValueScores, OfExtremeSizesAreFinite) {
  EXPECT_NEAR(*of_column({1e150, 3e150, 8e150}, {0, 4e150, 6e150}).r2, 1 - 6.0 / 26, 1e-15);
  EXPECT_NEAR(*of_column({1e-200, 3e-200, 8e-200}, {0, 4e-200, 6e-200}).r2, 1 - 6.0 / 26, 1e-15);
  EXPECT_THROW((void)of_column({1e200, 0}, {0, 0}), Error);
}

TEST(ValueScores, RefuseWhatHasNoScore) {
  EXPECT_THROW((void)of_column({1, 2}, {1}), Error);
  EXPECT_THROW((void)of_column({}, {}), Error);
  EXPECT_THROW((void)of_column({1, NAN}, {1, 2}), Error);
  EXPECT_THROW((void)of_column({1, 2}, {INFINITY, 2}), Error);
}

/// Confusion matrix 2 1 0 / 0 1 1 / 1 0 2.
TEST(ClassScores, AreThoseComputedByHand) {
  const std::vector<Index> labels{0, 0, 0, 1, 1, 2, 2, 2};
  const std::vector<Index> predicted{0, 0, 1, 1, 2, 2, 2, 0};
  const ClassScores scores = class_scores(labels, predicted, 3);
  EXPECT_EQ(scores.confusion, (std::vector<std::vector<Index>>{{2, 1, 0}, {0, 1, 1}, {1, 0, 2}}));
  EXPECT_DOUBLE_EQ(scores.accuracy(), 5.0 / 8);
  EXPECT_DOUBLE_EQ(scores.balanced_accuracy, (2.0 / 3 + 1.0 / 2 + 2.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(*scores.precision, (2.0 / 3 + 1.0 / 2 + 2.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(*scores.recall, scores.balanced_accuracy);
  EXPECT_DOUBLE_EQ(scores.f1, (2.0 / 3 + 1.0 / 2 + 2.0 / 3) / 3);
  EXPECT_EQ(scores.classes[1].support, 2);
  EXPECT_EQ(scores.classes[1].predicted, 2);
  EXPECT_DOUBLE_EQ(*scores.classes[1].f1(), 0.5);
  EXPECT_FALSE(scores.auc);
  EXPECT_FALSE(scores.probability);
  EXPECT_TRUE(missing_scores(scores, {}).empty());
}

TEST(ClassScores, LeaveOutWhatIsUndefinedAndSaySo) {
  const std::vector<std::string> names{"a", "b", "c", "d"};
  // b is never predicted, c has no samples, d does not occur at all.
  const ClassScores scores = class_scores(std::vector<Index>{0, 0, 1, 1}, std::vector<Index>{0, 2, 0, 0}, 4);
  EXPECT_FALSE(scores.classes[1].precision());
  EXPECT_EQ(*scores.classes[1].recall(), 0);
  EXPECT_EQ(*scores.classes[1].f1(), 0);
  EXPECT_FALSE(scores.classes[2].recall());
  EXPECT_FALSE(scores.classes[3].f1());
  EXPECT_FALSE(scores.precision);
  EXPECT_FALSE(scores.recall);
  EXPECT_DOUBLE_EQ(scores.balanced_accuracy, (0.5 + 0) / 2);
  EXPECT_DOUBLE_EQ(scores.f1, (2.0 / 5 + 0 + 0) / 3);
  EXPECT_TRUE(has_note(scores, names, "predicted as class 'b'"));
  EXPECT_TRUE(has_note(scores, names, "no samples of class 'c', 'd'"));
}

TEST(ClassScores, OfASingleClassSaySo) {
  const Matrix<double> p = table_of({{0.2, 0.8}, {0.6, 0.4}});
  const ClassScores scores =
      class_scores(std::vector<Index>{1, 1}, std::vector<Index>{1, 0}, 2, {.probabilities = p.view()});
  EXPECT_FALSE(scores.auc);
  EXPECT_FALSE(scores.roc);
  EXPECT_TRUE(has_note(scores, std::vector<std::string>{"no", "yes"}, "all samples are of class 'yes'"));
}

TEST(ClassScores, OfProbabilitiesAreThoseComputedByHand) {
  const Matrix<double> p = table_of({{0.9, 0.1}, {0.35, 0.65}, {0.4, 0.6}, {0.75, 0.25}});
  const std::vector<Index> labels{0, 1, 0, 1};
  const ClassScores scores =
      class_scores(labels, std::vector<Index>{0, 1, 1, 0}, 2, {.probabilities = p.view(), .bins = 5});
  ASSERT_TRUE(scores.probability);
  const ProbabilityScores& found = *scores.probability;
  EXPECT_NEAR(*found.log_loss, -(std::log(0.9) + std::log(0.65) + std::log(0.4) + std::log(0.25)) / 4, 1e-15);
  EXPECT_NEAR(found.brier, (0.01 + 0.1225 + 0.36 + 0.5625) / 4, 1e-15);
  // Confidence 0.9 in (0.8, 1], correct; 0.65 and 0.75 in (0.6, 0.8], one of them correct; 0.6 in (0.4, 0.6], wrong.
  EXPECT_NEAR(found.calibration_error, (std::fabs(1 - 0.9) + std::fabs(1 - 1.4) + std::fabs(0 - 0.6)) / 4, 1e-15);
  ASSERT_EQ(found.bins.size(), 5U);
  EXPECT_EQ(found.bins[2].samples, 1);
  EXPECT_EQ(found.bins[3].samples, 2);
  EXPECT_NEAR(found.bins[3].confidence, 0.7, 1e-15);
  EXPECT_EQ(found.bins[3].accuracy, 0.5);
  EXPECT_EQ(found.bins[4].accuracy, 1);
  // Positive samples score 0.65 and 0.25, negative ones 0.1 and 0.6: three of four pairs are in order.
  EXPECT_EQ(*scores.auc, 0.75);
}

TEST(ClassScores, BrierOfSeveralClassesIsTheSumOverThem) {
  const Matrix<double> p = table_of({{0.5, 0.3, 0.2}, {0, 0, 1}});
  const ClassScores scores =
      class_scores(std::vector<Index>{0, 2}, std::vector<Index>{0, 2}, 3, {.probabilities = p.view()});
  EXPECT_NEAR(scores.probability->brier, (0.25 + 0.09 + 0.04) / 2, 1e-15);
  EXPECT_NEAR(*scores.probability->log_loss, -std::log(0.5) / 2, 1e-15);
}

TEST(ClassScores, AnImpossibleSampleHasNoLogLoss) {
  const Matrix<double> p = table_of({{1, 0}, {1, 0}});
  const ClassScores scores =
      class_scores(std::vector<Index>{0, 1}, std::vector<Index>{0, 0}, 2, {.probabilities = p.view()});
  EXPECT_FALSE(scores.probability->log_loss);
  EXPECT_EQ(scores.probability->brier, 0.5);
  EXPECT_TRUE(has_note(scores, std::vector<std::string>{"a", "b"}, "infinite"));
}

/// Hand and Till's definition over all pairs of samples, for probabilities with many ties.
TEST(ClassScores, AreaOfSeveralClassesIsThatOfAllPairs) {
  const Random random(3);
  constexpr Index n = 41;
  constexpr Index classes = 4;
  Matrix<double> p(n, classes);
  std::vector<Index> labels;
  for (Index i = 0; i < n; ++i) {
    labels.push_back(i % 7 < 3 ? i % 7 : 2);  // class 3 has no samples
    for (Index c = 0; c < classes; ++c) {
      p(i, c) = std::floor(5 * random.uniform(static_cast<std::uint64_t>(i * classes + c))) / 5;
    }
  }
  const auto area = [&](Index high, Index low) {
    double won = 0;
    double pairs = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        if (labels[static_cast<std::size_t>(i)] != high || labels[static_cast<std::size_t>(j)] != low) continue;
        pairs += 1;
        won += p(i, high) > p(j, high) ? 1 : (p(i, high) == p(j, high) ? 0.5 : 0);
      }
    }
    return won / pairs;
  };
  double expected = 0;
  for (Index c = 0; c < 3; ++c) {
    for (Index d = c + 1; d < 3; ++d) expected += (area(c, d) + area(d, c)) / 2 / 3;
  }
  const ClassScores scores = class_scores(labels, labels, classes, {.probabilities = p.view()});
  EXPECT_NEAR(*scores.auc, expected, 1e-14);
  // Same from decision values of a machine with one output per class.
  EXPECT_NEAR(*class_scores(Scheme::one_hot, classes, p.view(), labels).auc, expected, 1e-14);
}

/// Pairs (0,1), (0,2), (1,2): each ranks the samples of its two classes.
TEST(ClassScores, DecisionsOfPairsOrderTheirPairs) {
  const Matrix<double> g = table_of({{1, 2, 9}, {-1, 1, -9}, {0, 9, 1}, {-2, -9, 2}, {9, -1, -1}, {-9, 3, 3}});
  const std::vector<Index> labels{0, 0, 1, 1, 2, 2};
  // (0,1): 1, −1 against 0, −2: three of four. (0,2): 2, 1 against −1, 3: two of four. (1,2): 1, 2 against −1, 3: two.
  EXPECT_DOUBLE_EQ(*class_scores(Scheme::one_vs_one, 3, g.view(), labels).auc, (0.75 + 0.5 + 0.5) / 3);
}

/// Samples with equal kernel rows have decisions that differ by the rounding of their sums.
TEST(ClassScores, RoundingOfDecisionsRanksNoSample) {
  for (const double sign : {-1.0, 1.0}) {
    const double near = 1 + sign * 1e-10;
    const Matrix<double> decisions = table_of({{1}, {near}, {3}, {-2}, {-1e-20}, {-1e-20 * near}});
    const std::vector<Index> labels{1, 0, 1, 0, 1, 0};
    const ClassScores scores = class_scores(Scheme::sign, 2, decisions.view(), labels, {});
    EXPECT_NEAR(*scores.auc, 7.0 / 9, 1e-15) << "of nine pairs six are won and two tied";
  }
  const Matrix<double> apart = table_of({{1}, {1 + 1e-8}});
  EXPECT_EQ(class_scores(Scheme::sign, 2, apart.view(), std::vector<Index>{1, 0}, {}).auc, 0);
}

TEST(ClassScores, RefuseWhatDoesNotFit) {
  const std::vector<Index> labels{0, 1};
  const Matrix<double> p = table_of({{0.5, 0.5}, {1.5, -0.5}});
  const Matrix<double> narrow = table_of({{0.5}, {0.5}});
  EXPECT_THROW((void)class_scores(labels, std::vector<Index>{0}, 2), Error);
  EXPECT_THROW((void)class_scores(labels, std::vector<Index>{0, 2}, 2), Error);
  EXPECT_THROW((void)class_scores(std::vector<Index>{}, std::vector<Index>{}, 2), Error);
  EXPECT_THROW((void)class_scores(labels, labels, 2, {.probabilities = p.view()}), Error);
  EXPECT_THROW((void)class_scores(labels, labels, 2, {.probabilities = narrow.view()}), Error);
  EXPECT_THROW((void)class_scores(labels, labels, 3, {.decisions = narrow.view()}), Error);
  EXPECT_THROW((void)class_scores(labels, labels, 2, {.bins = 0}), Error);
}

TEST(Score, OfUnlabelledSamplesIsNone) {
  Dataset data;
  data.values = Matrix<double>(2, 1);
  EXPECT_FALSE(score(Scheme::sign, 2, table_of({{1}, {-1}}), data));
  EXPECT_FALSE(score(Scheme::values, 0, table_of({{1}, {-1}}), data));
  data.labels = {1, 0};
  const auto found = score(Scheme::sign, 2, table_of({{1}, {-1}}), data);
  EXPECT_EQ(std::get<ClassScores>(*found).margins, (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace widelimit
