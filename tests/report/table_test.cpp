#include "widelimit/report/table.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/report/csv.hpp"
#include "widelimit/report/file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace widelimit {
namespace {

using Texts = std::vector<std::string>;

Table column_of(const std::vector<Cell>& cells) {
  Table table{.columns = {"value"}, .rows = {}, .caption = ""};
  for (const Cell& cell : cells) table.rows.push_back({cell});
  return table;
}

TEST(Table, AlignsDecimals) {
  EXPECT_EQ(column_text(column_of({1.5, 10.25, -0.5}), 0), (Texts{"1.5000", "10.2500", "-0.5000"}));
  EXPECT_EQ(column_text(column_of({12345.0, 99999.0}), 0), (Texts{"12345", "99999"}));
  EXPECT_EQ(column_text(column_of({0.0, 0.0}), 0), (Texts{"0", "0"}));
}

TEST(Table, WritesWideRangesInScientificForm) {
  EXPECT_EQ(column_text(column_of({1e-9, 1.0}), 0), (Texts{"1.000e-09", "1.000e+00"}));
  EXPECT_EQ(column_text(column_of({5e-324, 1e308}), 0, 2), (Texts{"4.9e-324", "1.0e+308"}));
}

TEST(Table, KnowsItsNumbers) {
  EXPECT_TRUE(is_numeric(column_of({1.0, std::int64_t{2}, {}}), 0));
  EXPECT_FALSE(is_numeric(column_of({1.0, "x"}), 0));
  EXPECT_FALSE(is_numeric(column_of({}), 0));
  EXPECT_FALSE(is_numeric(column_of({Cell{}}), 0));
}

TEST(Table, RefusesRaggedRowsAndNonFiniteNumbers) {
  Table ragged = column_of({1.0});
  ragged.rows.push_back({1.0, 2.0});
  EXPECT_THROW(ragged.validate(), Error);
  try {
    column_of({1.0, std::nan("")}).validate();
    FAIL() << "a NaN was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical);
    EXPECT_NE(std::string(error.what()).find("row 1"), std::string::npos);
  }
}

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  const Table table{.columns = {"plain", "with, comma"},
                    .rows = {{"say \"hi\"", "two\nlines"}, {" blank", ""}, {"a b", {}}, {std::int64_t{-3}, 0.1}},
                    .caption = "not written"};
  EXPECT_EQ(to_csv(table), "plain,\"with, comma\"\n\"say \"\"hi\"\"\",\"two\nlines\"\n\" blank\",\na b,\n-3,0.1\n");
}

TEST(Csv, NumbersReadBackBitForBit) {
  for (const double value : {1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.123456789}) {
    const std::string text = to_csv(column_of({value}));
    EXPECT_EQ(std::strtod(text.c_str() + text.find('\n') + 1, nullptr), value) << text;
  }
}

TEST(Csv, WritesAFile) {
  const TemporaryFolder folder;
  write_csv(column_of({2.5}), folder.path() / "t.csv");
  EXPECT_EQ(read_back(folder.path() / "t.csv"), "value\n2.5\n");
  EXPECT_THROW(write_csv(column_of({2.5}), folder.path() / "absent" / "t.csv"), Error);
}

}  // namespace
}  // namespace widelimit
