#include "widelimit/data/formats/libsvm.hpp"

#include "fixture.hpp"

namespace widelimit {
namespace {

TEST(Libsvm, SparseRowsBecomeDense) {
  const Dataset data = parse_libsvm("+1 1:0.5 3:-2 # a comment\r\n\n-1 2:1e2\n+1\n");
  EXPECT_EQ(data.count(), 3);
  EXPECT_EQ(data.shape.size(), 3);
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"-1", "1"}));
  EXPECT_EQ(data.labels, (std::vector<Index>{1, 0, 1}));
  EXPECT_EQ(value(data, 0, 0), 0.5);
  EXPECT_EQ(value(data, 0, 1), 0);
  EXPECT_EQ(value(data, 0, 2), -2);
  EXPECT_EQ(value(data, 1, 1), 100);
  EXPECT_EQ(value(data, 2, 2), 0);
}

TEST(Libsvm, TargetsAndMoreColumnsOnRequest) {
  ReadOptions options;
  options.least_features = 5;
  const Dataset data = parse_libsvm("0.25 1:1\n2 2:1", options);
  EXPECT_EQ(data.targets, (std::vector<double>{0.25, 2}));
  EXPECT_EQ(data.shape.size(), 5);
}

TEST(Libsvm, ErrorsNameTheLine) {
  const auto parse = [](std::string_view text) { return [text] { (void)parse_libsvm(text); }; };
  expect_error(Code::input, {"no samples"}, parse(""));
  expect_error(Code::input, {"no sample has a feature"}, parse("1\n"));
  expect_error(Code::input, {"line 2", "0:3"}, parse("1 1:2\n1 0:3\n"));
  expect_error(Code::input, {"line 1", "ascend"}, parse("1 2:1 1:1\n"));
  expect_error(Code::input, {"line 1", "ascend"}, parse("1 2:1 2:1\n"));
  expect_error(Code::input, {"line 1", "index 1", "nan"}, parse("1 1:nan\n"));
  expect_error(Code::input, {"line 1", "index 4", "x"}, parse("1 4:x\n"));
  expect_error(Code::input, {"line 1", "7"}, parse("1 7\n"));
  expect_error(Code::input, {"line 1", "label"}, parse("1:2 3:4\n"));
  expect_error(Code::input, {"line 1", "label"}, parse("inf 3:4\n"));
}

TEST(Libsvm, LargeSetsWithFewNumbersStaySparse) {
  // 9 rows of 10⁶ columns would take 72 MB.
  std::string text;
  for (int i = 0; i < 8; ++i) text += fmt::format("{} {}:1.5 {}:-2\n", i % 2, i + 1, 1000 * (i + 1));
  text += "1 1000000:0.25 # the last\n";
  const Dataset data = parse_libsvm(text);
  const SampleView samples = data.view();
  const SparseView* rows = samples.sparse();
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(data.count(), 9);
  EXPECT_EQ(data.shape.size(), 1'000'000);
  EXPECT_EQ(rows->stored(), 17);
  EXPECT_EQ(rows->row(3).columns[1], 3999);
  EXPECT_EQ(rows->row(3).values[1], -2);
  EXPECT_EQ(rows->row(8).columns[0], 999'999);
  EXPECT_EQ(data.labels, (std::vector<Index>{0, 1, 0, 1, 0, 1, 0, 1, 1}));
  // The same numbers with fewer columns are dense.
  EXPECT_EQ(parse_libsvm(text.substr(0, text.rfind("1 1000000"))).view().sparse(), nullptr);
  ReadOptions options;
  options.least_features = 2'000'000;
  EXPECT_EQ(parse_libsvm(text, options).shape.size(), 2'000'000);
  expect_error(Code::input, {"line 10", "ascend"}, [&] { (void)parse_libsvm(text + "1 5:1 5:1 1000000:1\n"); });
}

TEST(Libsvm, HeldSparseWhereThatIsMuchSmaller) {
  constexpr Index rows = 10'000;
  EXPECT_FALSE(held_sparse(rows, rows, 800));            // 64 MB dense: small
  EXPECT_TRUE(held_sparse(rows, rows, 900));             // 72 MB, one number per row
  EXPECT_TRUE(held_sparse(rows * 59, rows, 1000));       // 5.9 % of the numbers: 7.2 MB
  EXPECT_FALSE(held_sparse(rows * 66 + 1, rows, 1000));  // a tenth of the dense size
}

TEST(Libsvm, AbsurdIndexAllocatesNothing) {
  expect_error(Code::input, {"sparse"}, [] { (void)parse_libsvm("1 9000000000000000000:1\n"); });
  expect_error(Code::input, {"line 1"}, [] { (void)parse_libsvm("1 99999999999999999999:1\n"); });
}

}  // namespace
}  // namespace widelimit
