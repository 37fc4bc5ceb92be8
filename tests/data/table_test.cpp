#include "widelimit/data/table.hpp"

#include "fixture.hpp"
#include "widelimit/data/formats/csv.hpp"
#include "widelimit/data/labels/labels.hpp"
#include "widelimit/data/preparation/missing.hpp"

#include <cmath>

namespace widelimit {
namespace {

using Names = std::vector<std::string>;

ReadOptions reading(TableOptions table, std::optional<std::string> label = {}) {
  ReadOptions options;
  options.table = std::move(table);
  options.label = std::move(label);
  return options;
}

ReadOptions as(const Dataset& before, std::optional<std::string> label = {}) {
  ReadOptions options;
  options.like = &before.layout;
  options.label = std::move(label);
  return options;
}

std::vector<double> row(const Dataset& data, Index i) {
  std::vector<double> values;
  for (Index j = 0; j < data.shape.size(); ++j) values.push_back(value(data, i, j));
  return values;
}

using Row = std::vector<double>;

TEST(Table, TextsAreOneHot) {
  const Dataset data = parse_csv("size,colour,class\n1,red,a\n2,blue,b\n3,red,a\n");
  EXPECT_EQ(data.layout.feature_names(), (Names{"size", "colour=blue", "colour=red"}));
  EXPECT_EQ(row(data, 0), (Row{1, 0, 1}));
  EXPECT_EQ(row(data, 1), (Row{2, 1, 0}));
  EXPECT_EQ(data.class_names, (Names{"a", "b"}));
  EXPECT_EQ(data.layout.label, "class");
  EXPECT_TRUE(data.notes.empty());
}

/// The number of a row tells its class where rows are sorted by class.
TEST(Table, AColumnThatCountsTheRowsIsNoted) {
  std::string from_zero = ",a,y\n", from_one = "id,a,y\n", gap = "id,a,y\n", few = "id,a,y\n";
  for (int i = 0; i < 12; ++i) {
    const std::string rest = fmt::format(",{},{}\n", i * i % 7, i % 2 == 0 ? "p" : "q");
    from_zero += std::to_string(i) + rest;
    from_one += std::to_string(i + 1) + rest;
    gap += std::to_string(i == 6 ? 60 : i) + rest;
    if (i < 3) few += std::to_string(i) + rest;
  }
  const Dataset zero = parse_csv(from_zero), one = parse_csv(from_one);
  ASSERT_EQ(zero.notes.size(), 1U);
  EXPECT_NE(zero.notes[0].find("column 1 counts the rows"), std::string::npos) << zero.notes[0];
  ASSERT_EQ(one.notes.size(), 1U);
  EXPECT_NE(one.notes[0].find("column 'id' counts the rows"), std::string::npos) << one.notes[0];
  EXPECT_TRUE(parse_csv(gap).notes.empty());
  EXPECT_TRUE(parse_csv(few).notes.empty());
  EXPECT_TRUE(parse_csv(from_one, reading({.drop = {"id"}})).notes.empty());
  EXPECT_TRUE(parse_csv(from_one, as(one)).notes.empty()) << "new samples";
}

TEST(Table, NumbersAreCategoriesWhereAsked) {
  const Dataset data = parse_csv("zip,x,y\n10,1,0.5\n20,2,1.5\n10,3,2.5\n", reading({.categorical = {"zip"}}));
  EXPECT_EQ(data.layout.feature_names(), (Names{"zip=10", "zip=20", "x"}));
  EXPECT_EQ(row(data, 2), (Row{1, 0, 3}));
}

TEST(Table, ColumnsAreChosenAndDropped) {
  const std::string text = "id,a,b,c,y\n9,1,2,3,0\n8,4,5,6,1\n";
  EXPECT_EQ(row(parse_csv(text, reading({.drop = {"id", "2"}})), 1), (Row{4, 6}));
  EXPECT_EQ(row(parse_csv(text, reading({.columns = {"c", "a"}})), 1), (Row{4, 6})) << "in the order of the table";
  EXPECT_EQ(row(parse_csv(text, reading({.columns = {"c"}}, "a")), 1), (Row{6}));
  expect_error(Code::input, {"'nosuch'", "id, a, b"}, [&] { (void)parse_csv(text, reading({.drop = {"nosuch"}})); });
  expect_error(Code::input, {"'y'", "label"}, [&] { (void)parse_csv(text, reading({.drop = {"y"}})); });
  expect_error(Code::input, {"no column is left"}, [&] { (void)parse_csv(text, reading({.columns = {"y"}})); });
  expect_error(Code::usage, {"'a'", "both"},
               [&] { (void)parse_csv(text, reading({.columns = {"a"}, .drop = {"a"}})); });
}

TEST(Table, MissingValues) {
  const std::string text = "a,b,kind,y\n1,,red,0\n2,4,?,1\nNA,6,red,0\n6,8,blue,1\n";
  expect_error(Code::input, {"line 2", "column 2", "'b'", "empty"}, [&] { (void)parse_csv(text); });
  const Dataset dropped = parse_csv(text, reading({.missing = Missing::drop}));
  EXPECT_EQ(dropped.count(), 1);
  EXPECT_EQ(dropped.labels.size(), 1U);
  ASSERT_EQ(dropped.notes.size(), 1U);
  EXPECT_NE(dropped.notes[0].find("3 of 4 rows"), std::string::npos) << dropped.notes[0];

  const Dataset mean = parse_csv(text, reading({.missing = Missing::mean}));
  EXPECT_EQ(row(mean, 0), (Row{1, 6, 0, 1})) << "(4 + 6 + 8)/3";
  EXPECT_EQ(row(mean, 1), (Row{2, 4, 0, 1})) << "red is the most frequent";
  EXPECT_EQ(row(mean, 2), (Row{3, 6, 0, 1})) << "(1 + 2 + 6)/3";
  const Dataset median = parse_csv(text, reading({.missing = Missing::median}));
  EXPECT_EQ(value(median, 2, 0), 2);
  EXPECT_EQ(value(parse_csv("1,0\n,1\n2,0\n", reading({.missing = Missing::median})), 1, 0), 1.5);
  expect_error(Code::input, {"'b'", "no value"},
               [&] { (void)parse_csv("a,b,y\n1,,0\n2,,1\n", reading({.missing = Missing::mean})); });
  expect_error(Code::input, {"none is left"},
               [&] { (void)parse_csv("a,b,y\n1,,0\n2,,1\n", reading({.missing = Missing::drop})); });
  EXPECT_EQ(parse_csv("1,\n2,1\n3,0\n", reading({.missing = Missing::drop})).count(), 2) << "a missing label";
}

TEST(Table, FillIsLearnedOnOtherSamples) {
  ReadOptions options = reading({.missing = Missing::mean});
  options.keep_missing = true;
  Dataset train = parse_csv("a,k,y\n1,u,0\n3,v,1\n,u,1\n", options);
  EXPECT_TRUE(std::isnan(value(train, 2, 0)));
  learn_fill(train, Missing::mean);
  Dataset test = parse_csv("a,k,y\n,v,0\n100,,1\n", options);
  test.layout = train.layout;
  ReadOptions like = as(train);
  like.table.missing = Missing::mean;
  like.keep_missing = true;
  test = parse_csv("a,k,y\n,v,0\n100,,1\n", like);
  fill_missing(test, train.layout);
  EXPECT_EQ(row(test, 0), (Row{2, 0, 1}));
  EXPECT_EQ(row(test, 1), (Row{100, 1, 0}));
}

TEST(Table, ColumnsAreFoundByName) {
  const Dataset before = parse_csv("a,colour,y\n1,red,0\n2,blue,1\n");
  const Dataset other = parse_csv("y,extra,colour,a\n1,7,blue,5\n0,7,green,6\n", as(before));
  EXPECT_EQ(row(other, 0), (Row{5, 1, 0}));
  EXPECT_EQ(row(other, 1), (Row{6, 0, 0})) << "green was never met";
  EXPECT_EQ(other.labels, (std::vector<Index>{1, 0}));
  ASSERT_EQ(other.notes.size(), 2U);
  EXPECT_NE(other.notes[0].find("ignored: extra"), std::string::npos) << other.notes[0];
  EXPECT_NE(other.notes[1].find("'green'"), std::string::npos) << other.notes[1];

  const Dataset unlabelled = parse_csv("colour,a\nred,5\n", as(before));
  EXPECT_FALSE(unlabelled.labelled());
  EXPECT_EQ(row(unlabelled, 0), (Row{5, 0, 1}));
  EXPECT_FALSE(parse_csv("colour,a\nred,5\n", as(before, "y")).labelled());
  EXPECT_FALSE(parse_csv("y,colour,a\n1,red,5\n", as(before, "none")).labelled());
  EXPECT_EQ(parse_csv("z,colour,a\n7,red,5\n", as(before, "z")).class_names, Names{"7"});
  expect_error(Code::input, {"missing: a", "first line is: colour, y"},
               [&] { (void)parse_csv("colour,y\nred,0\n", as(before)); });
  expect_error(Code::input, {"missing: a, colour"}, [&] { (void)parse_csv("p,q,y\n1,2,0\n", as(before)); });
  expect_error(Code::input, {"no label column 'z'"}, [&] { (void)parse_csv("a,colour\n1,red\n", as(before, "z")); });
  expect_error(Code::input, {"'a'", "as the label"}, [&] { (void)parse_csv("a,colour\n1,red\n", as(before, "a")); });

  const Dataset plain = parse_csv("7,blue,1\n", as(before));
  EXPECT_EQ(row(plain, 0), (Row{7, 1, 0}));
  ASSERT_EQ(plain.notes.size(), 1U);
  EXPECT_NE(plain.notes[0].find("no header"), std::string::npos);
}

TEST(Table, ColumnsAreFoundByPlace) {
  const Dataset before = parse_csv("0,1,2,3\n1,4,5,6\n", reading({.drop = {"2"}}, "0"));
  EXPECT_EQ(row(before, 1), (Row{4, 6}));
  EXPECT_EQ(row(parse_csv("0,7,8,9\n", as(before)), 0), (Row{7, 9}));
  EXPECT_EQ(row(parse_csv("7,8,9\n", as(before)), 0), (Row{7, 9})) << "without the label";
  EXPECT_FALSE(parse_csv("7,8,9\n", as(before)).labelled());
  EXPECT_EQ(row(parse_csv("7,9\n", as(before)), 0), (Row{7, 9})) << "only the columns that are needed";
  EXPECT_EQ(parse_csv("7,9,1\n", as(before, "2")).class_names, Names{"1"});
  expect_error(Code::input, {"5 columns", "4 are required"}, [&] { (void)parse_csv("1,2,3,4,5\n", as(before)); });
}

TEST(Table, SeveralLabelsAreNumbers) {
  const std::string text = "y,a,z\n1,2,3\n4,5,6.5\n";
  const Dataset data = parse_csv(text, reading({}, "z,y"));
  EXPECT_EQ(data.shape.size(), 1);
  ASSERT_EQ(data.outputs.rows(), 2);
  ASSERT_EQ(data.outputs.cols(), 2);
  EXPECT_EQ(data.outputs(1, 0), 6.5) << "in the order that they are asked for in";
  EXPECT_EQ(data.outputs(1, 1), 4);
  EXPECT_TRUE(data.labelled() && data.targets.empty() && data.labels.empty());
  EXPECT_EQ(parse_csv("1,2,3\n", reading({}, "0,-1")).outputs(0, 1), 3);

  const Dataset turned = parse_csv("a,y,z\n7,8,9\n", as(data));
  EXPECT_EQ(turned.outputs(0, 0), 9);
  EXPECT_EQ(row(turned, 0), (Row{7}));
  EXPECT_FALSE(parse_csv("a,y\n7,8\n", as(data)).labelled()) << "one of them is missing";
  EXPECT_EQ(parse_csv("a,y\n7,8\n", as(data, "y")).class_names, Names{"8"});
  expect_error(Code::input, {"line 2", "'x'", "several labels"},
               [&] { (void)parse_csv("y,a,z\nx,2,3\n", reading({}, "z,y")); });
  expect_error(Code::input, {"'w'"}, [&] { (void)parse_csv(text, reading({}, "z,w")); });
  expect_error(Code::usage, {"twice"}, [&] { (void)parse_csv(text, reading({}, "z,z")); });
  expect_error(Code::input, {"'z' is the label"}, [&] { (void)parse_csv(text, reading({.drop = {"z"}}, "z,y")); });
  expect_error(Code::usage, {"2 label columns"}, [&] { require_one_target(data); });
  EXPECT_EQ(parse_csv("y,a,z\n,2,3\n1,2,3\n", reading({.missing = Missing::drop}, "z,y")).outputs.rows(), 1);
}

TEST(Table, FirstRowOfTextsIsASampleWhereItRepeats) {
  EXPECT_EQ(parse_csv("x,s,n,e\nb,s,w,p\nx,y,n,e\n").count(), 3);
  EXPECT_EQ(parse_csv("cap,ring,kind\nx,o,e\nb,p,p\n").count(), 2);
}

TEST(Table, NamesAreNoCategories) {
  std::string text = "name,x,y\n";
  for (int i = 0; i < 30; ++i) text += fmt::format("Mr {},1,{}\n", i, i % 2);
  const Dataset data = parse_csv(text);
  EXPECT_EQ(data.shape.size(), 31);
  ASSERT_EQ(data.notes.size(), 1U);
  EXPECT_NE(data.notes[0].find("'name' has 30 different texts"), std::string::npos) << data.notes[0];
  for (int i = 30; i < 1100; ++i) text += fmt::format("Mr {},1,{}\n", i, i % 2);
  expect_error(Code::input, {"'name'", "1000"}, [&] { (void)parse_csv(text); });
}

TEST(Table, BytesThatAreNoTextStayApart) {
  const Dataset data = parse_csv("k,y\n\xff,0\n\xfe,1\n\xff,1\n");
  EXPECT_EQ(data.layout.feature_names(), (Names{"k=\\xfe", "k=\\xff"}));
}

}  // namespace
}  // namespace widelimit
