#include "widelimit/data/request.hpp"

#include "fixture.hpp"
#include "widelimit/data/describe.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace widelimit {
namespace {

class Requests : public Folder {};

TEST_F(Requests, SplitOfAShuffledChoice) {
  DataRequest request;
  request.train = "digits";
  request.classes = {"3", "8"};
  request.shuffle = 7;
  request.split = 0.8;
  request.limit = 100;
  request.test_limit = 37;
  request.scale = Scaling::unit;
  const TrainTest parts = load_train_test(request);
  EXPECT_EQ(parts.train.count(), 100);
  ASSERT_TRUE(parts.test);
  EXPECT_EQ(parts.test->count(), 37);
  EXPECT_EQ(parts.test->class_names, (std::vector<std::string>{"3", "8"}));
  EXPECT_EQ(std::set<Index>(parts.train.labels.begin(), parts.train.labels.end()), (std::set<Index>{0, 1}));
  double norm = 0;
  for (Index j = 0; j < 64; ++j) norm += value(parts.train, 0, j) * value(parts.train, 0, j);
  EXPECT_NEAR(norm, 1, 1e-14);
}

TEST_F(Requests, TestLabelsAreIndicesIntoTrainingClasses) {
  DataRequest request;
  request.train = put("train.csv", "1,a\n2,b\n3,c\n").string();
  request.test = put("test.csv", "5,c\n6,b\n").string();
  request.scale = Scaling::minmax;
  const TrainTest parts = load_train_test(request);
  EXPECT_EQ(parts.test->labels, (std::vector<Index>{2, 1}));
  EXPECT_EQ(parts.test->class_names.size(), 3U);
  EXPECT_EQ(value(*parts.test, 0, 0), 2) << "(5 − 1)/(3 − 1): learned on train";
  request.test = put("bad.csv", "5,d\n").string();
  expect_error(Code::input, {"'d'"}, [&] { (void)load_train_test(request); });
  request.test = put("wide.csv", "5,5,a\n").string();
  expect_error(Code::input, {"shape 2", "have 1"}, [&] { (void)load_train_test(request); });
}

TEST_F(Requests, TargetsStayTargets) {
  DataRequest request;
  request.train = put("train.csv", "1,0.5\n2,2\n").string();
  request.test = put("test.csv", "5,1\n").string();
  EXPECT_EQ(load_train_test(request).test->targets, std::vector<double>{1});
}

TEST_F(Requests, LibsvmPartsGetTheSameColumns) {
  DataRequest request;
  request.train = put("train.svm", "1 1:1\n-1 2:1\n").string();
  request.test = put("test.svm", "1 4:1\n").string();
  const TrainTest parts = load_train_test(request);
  EXPECT_EQ(parts.train.shape.size(), 4);
  EXPECT_EQ(parts.test->shape.size(), 4);
  std::swap(request.train, *request.test);
  request.classes = {"1"};
  EXPECT_EQ(load_train_test(request).test->count(), 1);
}

TEST_F(Requests, ContradictionsAreUsageErrors) {
  DataRequest request;
  request.train = "digits";
  request.test = "digits";
  request.split = 0.5;
  expect_error(Code::usage, {"exclude"}, [&] { (void)load_train_test(request); });
  request.test.reset();
  request.split = 1.5;
  expect_error(Code::usage, {"split"}, [&] { (void)load_train_test(request); });
  request.split.reset();
  request.limit = 0;
  expect_error(Code::usage, {"limit"}, [&] { (void)load_train_test(request); });
}

TEST(Describe, FindsProblems) {
  const Description description = describe(table({{1, 2}, {1, 3}, {1, 2}, {1, 2}}, {0, 1, 0, 0}), 2);
  EXPECT_EQ(description.low, 1);
  EXPECT_EQ(description.high, 3);
  EXPECT_EQ(description.first_rows.size(), 2U);
  EXPECT_EQ(description.first_labels, (std::vector<std::string>{"0", "1"}));
  const std::string text = to_text(description);
  for (const char* part : {"1 of 2 features are constant", "2 samples repeat", "class '1' has only 1"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_EQ(to_json(description)["samples"], 4);
  EXPECT_NE(to_text(describe(table({}))).find("unlabelled"), std::string::npos);
}

TEST(Describe, ZeroAndMinusZeroAreOne) { EXPECT_EQ(describe(table({{0.0}, {-0.0}})).problems.size(), 3U); }

/// Choosing and splitting make new matrices beside the old one.
TEST_F(Requests, CopiesCountToo) {
  DataRequest request;
  request.train = "spirals(n=10000)";  // 160 kB of points
  request.memory = 300'000;
  EXPECT_EQ(load_train_test(request).train.count(), 10000);
  request.split = 0.5;
  expect_error(Code::resource, {"spirals", "needs about 312 KiB", "the limit is 293 KiB"},
               [&] { (void)load_train_test(request); });
  request.memory = 100'000;
  request.split.reset();
  expect_error(Code::resource, {"reading spirals needs about"}, [&] { (void)load_train_test(request); });
}

}  // namespace
}  // namespace widelimit
