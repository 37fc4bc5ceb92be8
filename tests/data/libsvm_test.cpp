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

TEST(Libsvm, AbsurdIndexAllocatesNothing) {
  expect_error(Code::resource, {"sparse"}, [] { (void)parse_libsvm("1 9000000000000000000:1\n"); });
  expect_error(Code::input, {"line 1"}, [] { (void)parse_libsvm("1 99999999999999999999:1\n"); });
}

}  // namespace
}  // namespace widelimit
