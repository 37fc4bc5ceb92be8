#include "widelimit/data/request.hpp"

#include "fixture.hpp"
#include "widelimit/data/describe.hpp"
#include "widelimit/data/preparation/equal_rows.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
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
  expect_error(Code::input, {"wide.csv", "3 columns", "2 are required"}, [&] { (void)load_train_test(request); });
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
  expect_error(Code::usage, {"mutually exclusive"}, [&] { (void)load_train_test(request); });
  request.test.reset();
  request.split = 1.5;
  expect_error(Code::usage, {"split"}, [&] { (void)load_train_test(request); });
  request.split.reset();
  request.limit = 0;
  expect_error(Code::usage, {"limit"}, [&] { (void)load_train_test(request); });
}

/// Iris in its usual order: 50 samples of each class, sorted by class.
std::string sorted_table() {
  std::string text = "a,b,kind\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("{},{},{}\n", i, i % 7, i / 20 == 0 ? "x" : i / 20 == 1 ? "y" : "z");
  return text;
}

bool has_note(const std::vector<std::string>& notes, std::string_view part) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

TEST_F(Requests, SplitOfASortedFileHasEveryClass) {
  DataRequest request;
  request.train = put("sorted.csv", sorted_table()).string();
  request.split = 0.8;
  const TrainTest parts = load_train_test(request);
  std::vector<int> counts(3);
  for (const Index label : parts.test->labels) ++counts[usize(label)];
  EXPECT_EQ(counts, (std::vector<int>{4, 4, 4}));
  EXPECT_FALSE(has_note(parts.notes, "class"));
  request.seed = 1;
  EXPECT_NE(value(load_train_test(request).train, 0, 0), value(parts.train, 0, 0));

  request.split_order = SplitOrder::file;
  const TrainTest ordered = load_train_test(request);
  EXPECT_EQ(value(*ordered.test, 0, 0), 48);
  EXPECT_TRUE(has_note(ordered.notes, "test part of the split has no sample of class x, y"));
  request.split = 0.5;
  const TrainTest half = load_train_test(request);
  EXPECT_EQ(half.train.class_names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(half.test->count(), 10) << "z was never trained on";
  EXPECT_TRUE(has_note(half.notes, "class z, which is left out, and with it 20 test samples"));
}

TEST_F(Requests, ClassesBeyondALimitAreLeftOut) {
  DataRequest request;
  request.train = put("sorted.csv", sorted_table()).string();
  request.limit = 30;
  const TrainTest parts = load_train_test(request);
  EXPECT_EQ(parts.train.class_names, (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(has_note(parts.notes, "class z"));
}

TEST_F(Requests, TasksAreGuessedOrAsked) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += fmt::format("{},{}\n", i, 20 + i % 30);
  DataRequest request;
  request.train = put("ages.csv", text).string();
  request.test = put("more.csv", "1.5,20\n2.5,99\n").string();
  const TrainTest guessed = load_train_test(request);
  EXPECT_EQ(guessed.train.targets.size(), 60U);
  EXPECT_EQ(guessed.test->targets, (std::vector<double>{20, 99})) << "as the training set";
  EXPECT_TRUE(has_note(guessed.notes, "regression"));
  request.task = Task::regression;
  EXPECT_TRUE(load_train_test(request).notes.empty());
  request.task = Task::classification;
  expect_error(Code::input, {"'99'"}, [&] { (void)load_train_test(request); });
  request.test.reset();
  EXPECT_EQ(load_train_test(request).train.class_names.size(), 30U);
}

TEST_F(Requests, TestTableHasTheColumnsOfTheTrainingTable) {
  DataRequest request;
  request.train = put("train.csv", "id,a,k,y\n1,10,u,0\n2,,v,1\n3,30,u,1\n").string();
  request.test = put("test.csv", "k,y,a\nv,1,\nw,0,7\n").string();
  request.table.drop = {"id"};
  request.table.missing = Missing::mean;
  const TrainTest parts = load_train_test(request);
  EXPECT_EQ(value(parts.train, 1, 0), 20);
  EXPECT_EQ(value(*parts.test, 0, 0), 20) << "learned on train";
  EXPECT_EQ(value(*parts.test, 1, 0), 7);
  EXPECT_EQ(parts.test->labels, (std::vector<Index>{1, 0}));
  EXPECT_TRUE(has_note(parts.notes, "'w'"));
  EXPECT_EQ(parts.origin.layout.columns[0].fill, 20);
  request.train = "digits";
  request.test.reset();
  expect_error(Code::usage, {"digits is not a table"}, [&] { (void)load_train_test(request); });
}

TEST_F(Requests, TestSamplesAmongTheTrainingSamplesAreNoted) {
  DataRequest request;
  request.train = put("train.csv", "a,b,y\n1,2,p\n3,4,q\n3,4,q\n0,1,p\n").string();
  request.test = put("test.csv", "b,a,y\n4,3,p\n4,3,q\n1,0,p\n9,9,q\n2,-1,p\n").string();
  EXPECT_TRUE(has_note(load_train_test(request).notes, "3 of 5 test samples equal a training sample"));
  request.scale = Scaling::standard;
  EXPECT_TRUE(has_note(load_train_test(request).notes, "3 of 5 test samples"));
  request.test = put("new.csv", "a,b,y\n2,1,p\n").string();
  EXPECT_FALSE(has_note(load_train_test(request).notes, "equal a training sample"));
}

TEST(EqualRows, OfAllKindsOfSamples) {
  Matrix<float> few(2, 2);
  few(0, 0) = 0.5F, few(0, 1) = -0.0F, few(1, 0) = 0.1F;
  Matrix<double> more(3, 2);
  more(0, 0) = 0.5, more(1, 0) = 0.1, more(2, 0) = 0.5;
  const AnySamples single = std::move(few), twice = std::move(more);
  EXPECT_EQ(samples_also_in(single, twice), 1) << "0.1 differs in float32 and float64, −0 equals 0";
  EXPECT_EQ(samples_also_in(twice, single), 2);
  EXPECT_EQ(samples_also_in(twice, twice), 3);
  EXPECT_EQ(repeated_samples(twice), 1);
  const AnySamples sparse = sparse_copy(SampleView(twice, Shape{1, 1, 2}));
  EXPECT_EQ(repeated_samples(sparse), 1);
  EXPECT_EQ(samples_also_in(sparse, sparse), 3);
}

TEST(Describe, FindsProblems) {
  const DataDescription description = describe(table({{1, 2}, {1, 3}, {1, 2}, {1, 2}}, {0, 1, 0, 0}), 2);
  EXPECT_EQ(description.low, 1);
  EXPECT_EQ(description.high, 3);
  EXPECT_EQ(description.first_rows.size(), 2U);
  EXPECT_EQ(description.first_labels, (std::vector<std::string>{"0", "1"}));
  const std::string text = to_text(description);
  for (const char* part :
       {"1 of 2 features are constant", "2 samples duplicate an earlier one", "class '1' has only 1"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_EQ(to_json(description)["samples"], 4);
  EXPECT_NE(to_text(describe(table({}))).find("unlabelled"), std::string::npos);
}

TEST(Describe, ZeroAndMinusZeroAreOne) { EXPECT_EQ(describe(table({{0.0}, {-0.0}})).problems.size(), 3U); }

/// Selecting and splitting allocate new matrices beside the old one.
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
