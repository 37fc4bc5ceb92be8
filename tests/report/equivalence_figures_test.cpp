#include "widelimit/report/figures/equivalence_figures.hpp"

#include "widelimit/analysis/equivalence/equivalence.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Two networks per width, with differences 10 % above and below m ↦ difference(m).
template <typename Difference>
Equivalence two_of_each(const Difference& difference, bool parts = false) {
  Equivalence result;
  const std::vector<Index> widths{128, 512, 2048};
  for (const double chance : {0.9, 1.1}) {
    for (const Index width : widths) {
      const double apart = chance * difference(static_cast<double>(width));
      result.runs.push_back({.width = width, .difference = apart, .kernel_part = apart, .movement_part = apart / 2});
    }
  }
  summarise_by_width(result, widths, parts);
  return result;
}

TEST(SlopeSentences, SayThatASlopeIsNotSettled) {
  const Equivalence bent = two_of_each([](double m) { return 1 / std::sqrt(m) + 1e4 / (m * m); });
  EXPECT_FALSE(bent.settled());
  const std::vector<std::string> sentences = slope_sentences(bent);
  ASSERT_EQ(sentences.size(), 2U);
  // log((1/√512 + 1e4/512²)/(1/√128 + 1e4/128²))/log 4, and the standard error √(log(1.1/0.9)²/4·2)/log 4.
  EXPECT_NE(sentences[1].find("Slope not settled: -1.54 ± 0.10 from width 128 to 512, "), std::string::npos)
      << sentences[1];
  EXPECT_NE(sentences[1].find(" from width 512 to 2048; "), std::string::npos) << sentences[1];
}

TEST(SlopeSentences, SaySoOnlyOfABend) {
  const Equivalence straight = two_of_each([](double m) { return 1 / std::sqrt(m); }, true);
  EXPECT_TRUE(straight.settled());
  const std::vector<std::string> sentences = slope_sentences(straight);
  ASSERT_EQ(sentences.size(), 2U);
  EXPECT_EQ(sentences[0].find("Slope of log difference against log width: -0.500 ["), 0U) << sentences[0];
  EXPECT_EQ(sentences[1].find("Slope of the part due to random initialisation of the kernel: -0.500 ["), 0U)
      << sentences[1];
  EXPECT_EQ(equivalence_table(straight).columns[3], "kernel at start");
  EXPECT_EQ(equivalence_table(two_of_each([](double) { return 1.0; })).columns[3], "train");
}

}  // namespace
}  // namespace widelimit
