#include "widelimit/report/scores.hpp"

#include "widelimit/report/csv.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace widelimit {
namespace {

ClassScores three_samples() { return class_scores(std::vector<Index>{0, 0, 1}, std::vector<Index>{0, 0, 0}, 2); }

TEST(ScoresReport, LeavesOutWhatIsUndefined) {
  const std::vector<std::string> names{"ham", "spam"};
  const auto json = score_json(three_samples(), names);
  EXPECT_EQ(json["samples"], 3);
  EXPECT_EQ(json["balanced_accuracy"], 0.5);
  EXPECT_FALSE(json.contains("precision"));
  EXPECT_FALSE(json.contains("auc"));
  EXPECT_FALSE(json["classes"][1].contains("precision"));
  EXPECT_EQ(json["classes"][1]["class"], "spam");
  EXPECT_EQ(json["classes"][1]["recall"], 0);
  EXPECT_NE(json["notes"][0].get<std::string>().find("'spam'"), std::string::npos);
  const Table table = scores_table({{"test", three_samples()}});
  EXPECT_EQ(table.columns, (std::vector<std::string>{"part", "samples", "accuracy", "balanced", "recall", "F1"}));
  table.validate();
  class_table(three_samples(), names).validate();
  EXPECT_EQ(score_text(three_samples()), "accuracy 0.6667 (2 of 3)");
}

TEST(ScoresReport, OfNumbers) {
  const std::vector<double> y{1, 3, 8};
  const std::vector<double> g{0, 4, 6};
  const Score found = value_scores({y.data(), 3, 1, 1}, {g.data(), 3, 1, 1});
  EXPECT_EQ(score_text(found), "mean squared error 2, R² 0.7692, RMSE 1.414, MAE 1.333");
  const auto json = score_json(found, {});
  EXPECT_DOUBLE_EQ(json["r2"], 1 - 6.0 / 26);
  EXPECT_DOUBLE_EQ(json["absolute_error"], 4.0 / 3);
  EXPECT_FALSE(json.contains("notes"));
}

TEST(TableFormats, QuoteWhatTheirSeparatorNeeds) {
  const Table table{.columns = {"a,b", "c\td"}, .rows = {{std::string("x"), 0.5}, {std::monostate{}, std::int64_t{2}}}};
  EXPECT_EQ(to_csv(table), "\"a,b\",c\td\nx,0.5\n,2\n");
  EXPECT_EQ(to_csv(table, '\t'), "a,b\t\"c\td\"\nx\t0.5\n\t2\n");
  const auto rows = nlohmann::json::parse(to_json_rows(table));
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["a,b"], "x");
  EXPECT_TRUE(rows[1]["a,b"].is_null());
  EXPECT_EQ(rows[1]["c\td"], 2);
}

}  // namespace
}  // namespace widelimit
