#include "widelimit/data/formats/csv.hpp"

#include "fixture.hpp"

namespace widelimit {
namespace {

using Names = std::vector<std::string>;
using Labels = std::vector<Index>;

ReadOptions labelled(const std::string& label) {
  ReadOptions options;
  options.label = label;
  return options;
}

TEST(Csv, LabelIsLastColumnAndClassesSortByNumber) {
  const Dataset data = parse_csv("1,2,10\n3,4.5,9\n-1e3,+6,10\n");
  EXPECT_EQ(data.count(), 3);
  EXPECT_EQ(data.shape, (Shape{1, 1, 2}));
  EXPECT_EQ(data.class_names, (Names{"9", "10"}));
  EXPECT_EQ(data.labels, (Labels{1, 0, 1}));
  EXPECT_EQ(value(data, 1, 1), 4.5);
  EXPECT_EQ(value(data, 2, 0), -1000);
  EXPECT_EQ(value(data, 2, 1), 6);
}

TEST(Csv, TextLabelsAndOneRow) {
  const Dataset data = parse_csv("5.1,3.5,setosa\n");
  EXPECT_EQ(data.count(), 1);
  EXPECT_EQ(data.class_names, Names{"setosa"});
}

TEST(Csv, RealLabelsAreTargets) {
  const Dataset data = parse_csv("1,0.5\n2,3\n");
  EXPECT_TRUE(data.labels.empty());
  EXPECT_TRUE(data.class_names.empty());
  EXPECT_EQ(data.targets, (std::vector<double>{0.5, 3}));
}

TEST(Csv, HeaderFoundByItsText) {
  EXPECT_EQ(parse_csv("a,b,class\n1,2,0\n3,4,1\n").count(), 2);
  EXPECT_EQ(parse_csv(",b,class\n1,2,0\n3,4,1\n").count(), 2);   // an unnamed index column
  EXPECT_EQ(parse_csv("0,1,label\n1,2,0\n3,4,1\n").count(), 2);  // numbered features, named label
  EXPECT_EQ(parse_csv("1,2,dog\n3,4,cat\n").count(), 2);         // a text label does not make a header
  EXPECT_EQ(parse_csv("a,b,class\n1,2,dog\n3,4,cat\n").count(), 2);
}

/// Programs name columns without names 0, 1, 2, …; as a sample, such a row would add a class.
TEST(Csv, NumbersOfColumnsAreAHeader) {
  const Dataset named = parse_csv("0,1,2,label\n0.5,1,2,dog\n3,4,5,cat\n");
  EXPECT_EQ(named.count(), 2);
  EXPECT_EQ(named.class_names, (Names{"cat", "dog"}));
  EXPECT_EQ(named.layout.feature_names(), (Names{"0", "1", "2"}));
  EXPECT_EQ(parse_csv("0,1,2,3\n0.5,1,2,0\n3,4,5,1\n").count(), 2);
  EXPECT_EQ(parse_csv("label,0,1,2\ndog,0.5,1,2\n", labelled("0")).count(), 1);
  EXPECT_EQ(parse_csv("0,1,2\n0.5,1,2\n", labelled("none")).count(), 1);
  EXPECT_EQ(parse_csv("0,1,2,dog\n3,4,5,cat\n").count(), 2) << "rows of integers are samples";
  EXPECT_EQ(parse_csv("0,1,dog\n0.5,4,cat\n").count(), 2) << "corners of a square are samples";
  EXPECT_EQ(parse_csv("0,1,2,7\n0.5,1,2,0\n").count(), 2);
  ReadOptions like;
  like.like = &named.layout;
  const Dataset test = parse_csv("2,label,0,1\n7,dog,8,9\n", like);
  ASSERT_EQ(test.count(), 1);
  EXPECT_EQ(value(test, 0, 0), 8);
  EXPECT_EQ(value(test, 0, 2), 7);
}

/// As categories, such numbers would fit a different model without a sign of it.
TEST(Csv, NumbersWithCommasAreErrors) {
  const auto parse = [](std::string_view text) { return [text] { (void)parse_csv(text); }; };
  expect_error(Code::input, {"line 2", "column 1 ('a')", "'1,5'", "decimal point"},
               parse("a;b;y\n1,5;2;x\n-2,5;3;z\n"));
  expect_error(Code::input, {"line 1", "column 2", "'2,5'"}, parse("1;2,5;x\n3;3,5e2;z\n"));
  expect_error(Code::input, {"column 1", "'1,000'"}, parse("a,y\n\"1,000\",x\n\"2,345,678.5\",z\n"));
  expect_error(Code::input, {"column 2", "label '1,5'", "decimal point"}, parse("a;y\n1;3\n2;1,5\n"));
  ReadOptions categorical;
  categorical.table.categorical = {"a"};
  EXPECT_EQ(parse_csv("a;b;y\n1,5;2;x\n2,5;3;z\n", categorical).shape.size(), 3);
  EXPECT_EQ(parse_csv("a;b;y\n1,5;2;x\nred,5;3;z\n").shape.size(), 3) << "other texts beside the numbers";
  EXPECT_EQ(parse_csv("a;y\n1;1,5\n2;none\n").class_names, (Names{"1,5", "none"}));
}

TEST(Csv, OtherEncodingsAreNamed) {
  using namespace std::string_view_literals;
  expect_error(Code::input, {"UTF-16", "UTF-8"}, [] {
    (void)parse_csv(
        "\xFF\xFE"
        "1\0,\0"
        "0\0\n\0"sv);
  });
  expect_error(Code::input, {"UTF-16"}, [] {
    (void)parse_csv(
        "\xFE\xFF\0"
        "1"sv);
  });
  expect_error(Code::input, {"byte 3 is zero"}, [] { (void)parse_csv("1,2\0,0\n"sv); });
}

TEST(Csv, RowOfTextAndNumbersIsNotTakenForAHeader) {
  expect_error(Code::input, {"line 1", "column 2", "abc"}, [] { (void)parse_csv("1,abc,0\n3,4,1\n"); });
}

TEST(Csv, LabelByNameNumberOrNone) {
  const std::string text = "a,class,b\n1,7,2\n3,8,4\n";
  for (const char* label : {"class", "1", "-2"}) {
    const Dataset data = parse_csv(text, labelled(label));
    EXPECT_EQ(data.class_names, (Names{"7", "8"})) << label;
    EXPECT_EQ(value(data, 1, 1), 4) << label;
  }
  const Dataset plain = parse_csv(text, labelled("none"));
  EXPECT_EQ(plain.shape.size(), 3);
  EXPECT_TRUE(plain.labels.empty() && plain.targets.empty());
  EXPECT_EQ(parse_csv("1\n2\n", labelled("none")).count(), 2);
  expect_error(Code::input, {"colour", "3 columns", "class"}, [&] { (void)parse_csv(text, labelled("colour")); });
  expect_error(Code::input, {"3"}, [&] { (void)parse_csv(text, labelled("3")); });
}

TEST(Csv, NamedLabelMakesAMixedFirstRowAHeader) {
  const Dataset data = parse_csv("1990,1991,price\n1,2,3\n", labelled("price"));
  EXPECT_EQ(data.count(), 1);
}

TEST(Csv, DelimitersFromContent) {
  for (const char* text : {"1;2;0\n3;4;1\n", "1\t2\t0\n3\t4\t1\n", "1 2  0\n 3 4 1 \n", "1, 2, 0\n3, 4, 1\n"}) {
    const Dataset data = parse_csv(text);
    EXPECT_EQ(data.count(), 2) << text;
    EXPECT_EQ(data.shape.size(), 2) << text;
    EXPECT_EQ(value(data, 1, 1), 4) << text;
  }
}

TEST(Csv, QuotesLineEndsBlankLinesAndMark) {
  const Dataset data = parse_csv("\xEF\xBB\xBF\"x, 1\",\"y\"\"\",label\r\n\r\n\"1\", 2 ,\"a,b\nc\"\r\n3,4,plain");
  EXPECT_EQ(data.count(), 2);
  EXPECT_EQ(data.class_names, (Names{"a,b\nc", "plain"}));
  EXPECT_EQ(value(data, 0, 0), 1);
  EXPECT_EQ(value(data, 0, 1), 2);
}

TEST(Csv, IntegersSpeltDifferentlyAreOneClass) {
  EXPECT_EQ(parse_csv("1,+1\n1,1.0\n2,-1\n").class_names, (Names{"-1", "1"}));
}

TEST(Csv, ErrorsNameThePlace) {
  const auto parse = [](std::string_view text) { return [text] { (void)parse_csv(text); }; };
  expect_error(Code::input, {"line 3", "column 2", "empty"}, parse("a,b,c\n1,2,0\n3,,1\n"));
  expect_error(Code::input, {"line 1", "column 2", "empty"}, parse("1,,0\n3,4,1\n"));
  expect_error(Code::input, {"line 2", "column 1", "nan"}, parse("1,2,0\nnan,4,1\n"));
  expect_error(Code::input, {"line 2", "column 1", "inf"}, parse("1,2,0\n-inf,4,1\n"));
  expect_error(Code::input, {"line 2", "column 1", "1e999"}, parse("1,2,0\n1e999,4,1\n"));
  expect_error(Code::input, {"line 2", "2 columns", "3"}, parse("1,2,0\n3,4\n"));
  expect_error(Code::input, {"line 2", "4 columns"}, parse("1,2,0\n3,4,5,6\n"));
  expect_error(Code::input, {"line 2", "column 3", "label"}, parse("1,2,0\n3,4,\n"));
  expect_error(Code::input, {"line 2", "column 3", "'NaN' is a missing value"}, parse("1,2,0\n3,4,NaN\n"));
  expect_error(Code::input, {"line 2", "column 3", "'NA' is a missing value"}, parse("1,2,DE\n3,4,NA\n"));
  expect_error(Code::input, {"line 2", "column 3", "'inf' is not finite"}, parse("1,2,0\n3,4,inf\n"));
  expect_error(Code::input, {"line 2", "not closed"}, parse("1,2,0\n3,4,\"a\n"));
  expect_error(Code::input, {"line 1", "closing quote"}, parse("1,\"2\"3,0\n"));
  expect_error(Code::input, {"empty"}, parse(""));
  expect_error(Code::input, {"empty"}, parse("\n \n"));
  expect_error(Code::input, {"no rows"}, parse("a,b,c\n"));
  expect_error(Code::input, {"only one column"}, parse("1\n2\n"));
  expect_error(Code::input, {"not a finite number"}, parse("1,2,3\n1,0x10,3\n"));
}

TEST(Csv, TinyNumbersAreZeroNotAnError) { EXPECT_EQ(value(parse_csv("1e-999,-1e-999,0\n"), 0, 0), 0); }

class CsvFile : public Folder {};

TEST_F(CsvFile, ReadsPlainFiles) {
  EXPECT_EQ(read_csv(put("a.csv", "1,2,0\n")).count(), 1);
  expect_error(Code::input, {"absent.csv", "No such file"}, [&] { (void)read_csv(path("absent.csv")); });
  expect_error(Code::input, {"regular"}, [&] { (void)read_csv(path("")); });
}

}  // namespace
}  // namespace widelimit
