#include "fixture.hpp"
#include "widelimit/data/request.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace widelimit {
namespace {

class NewSamplesOf : public Folder {
 protected:
  /// 40 rows of three classes, with a text column and two missing cells.
  [[nodiscard]] std::string whole() const {
    std::string text = "id,a,colour,y\n";
    for (int i = 0; i < 40; ++i) {
      text += fmt::format("{},{},{},{}\n", i, i == 5 || i == 30 ? "" : std::to_string(10 * i),
                          i % 3 == 0 ? "red" : "blue", i < 20 ? "p" : (i < 30 ? "q" : "r"));
    }
    return put("whole.csv", text).string();
  }
  static bool noted(const NewSamples& found, std::string_view part) {
    return std::any_of(found.notes.begin(), found.notes.end(),
                       [&](const std::string& note) { return note.find(part) != std::string::npos; });
  }
};

DataRequest of(const std::string& spec) {
  DataRequest request;
  request.train = spec;
  return request;
}

template <typename T>
std::vector<T> rows_of(const Dataset& data) {
  std::vector<T> rows;
  for (Index i = 0; i < data.count(); ++i) {
    T row;
    for (Index j = 0; j < data.shape.size(); ++j) row.push_back(value(data, i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}
using Rows = std::vector<double>;

TEST_F(NewSamplesOf, KnowsWhetherTheyWereTrainedOn) {
  DataRequest request = of(whole());
  request.table.missing = Missing::mean;
  const auto part_of = [&](const DataRequest& fitted, const std::string& source, Part part = Part::all) {
    const TrainTest parts = load_train_test(fitted);
    return load_new_samples(of(source), parts.origin, parts.train.class_names, part).part;
  };
  EXPECT_EQ(part_of(request, whole()), Part::train);
  EXPECT_EQ(part_of(request, put("other.csv", "id,a,colour,y\n1,2,red,p\n").string()), Part::test);
  request.split = 0.7;
  EXPECT_EQ(part_of(request, whole()), Part::all);
  EXPECT_EQ(part_of(request, whole(), Part::test), Part::test);
  EXPECT_EQ(part_of(request, whole(), Part::train), Part::train);
}

TEST_F(NewSamplesOf, PartsOfASplitAreThoseOfTheFit) {
  for (const Missing missing : {Missing::drop, Missing::mean, Missing::median}) {
    for (const SplitOrder order : {SplitOrder::stratified, SplitOrder::file}) {
      DataRequest request = of(whole());
      request.split = 0.7;
      request.split_order = order;
      request.seed = 11;
      request.shuffle = 5;
      request.classes = {"p", "q"};
      request.table.missing = missing;
      request.table.drop = {"id"};
      const TrainTest parts = load_train_test(request);
      const DataOrigin origin = parse_origin(origin_json(parts.origin));
      EXPECT_EQ(origin, parts.origin);
      for (const Part part : {Part::train, Part::test}) {
        const NewSamples again = load_new_samples(of(whole()), origin, parts.train.class_names, part);
        const Dataset& then = part == Part::train ? parts.train : *parts.test;
        EXPECT_EQ(rows_of<Rows>(again.data), rows_of<Rows>(then)) << to_string(missing);
        EXPECT_EQ(again.data.labels, then.labels);
      }
    }
  }
}

TEST_F(NewSamplesOf, LimitedTrainingPartAndClassesThatItLacks) {
  DataRequest request = of(put("sorted.csv", "1,a\n2,a\n3,a\n4,b\n5,b\n6,a\n7,c\n8,a\n").string());
  request.split = 0.75;
  request.split_order = SplitOrder::file;
  request.limit = 5;
  const TrainTest parts = load_train_test(request);
  const NewSamples train = load_new_samples(of(request.train), parts.origin, parts.train.class_names, Part::train);
  EXPECT_EQ(rows_of<Rows>(train.data), rows_of<Rows>(parts.train));
  const NewSamples test = load_new_samples(of(request.train), parts.origin, parts.train.class_names, Part::test);
  EXPECT_EQ(rows_of<Rows>(test.data), (std::vector<Rows>{{8}}));
  EXPECT_TRUE(noted(test, "no class c; 1 samples"));
}

TEST_F(NewSamplesOf, NumbersAreSplitAsNumbers) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("{},{}\n", i, 100 + 7 * (i % 25));
  DataRequest request = of(put("numbers.csv", text).string());
  request.split = 0.5;
  const TrainTest parts = load_train_test(request);
  ASSERT_FALSE(parts.train.targets.empty());
  const NewSamples test = load_new_samples(of(request.train), parts.origin, {}, Part::test);
  EXPECT_EQ(test.data.targets, parts.test->targets);
}

TEST_F(NewSamplesOf, OtherSourcesAreRefused) {
  DataRequest request = of(put("a.csv", "1,0\n2,1\n3,0\n4,1\n").string());
  request.split = 0.5;
  const TrainTest parts = load_train_test(request);
  const auto part_of = [&](const std::string& spec) {
    return [&, spec] { (void)load_new_samples(of(spec), parts.origin, {"0", "1"}, Part::test); };
  };
  expect_error(Code::input, {"b.csv", "not the source", "4 samples", "of other values"},
               part_of(put("b.csv", "1,0\n2,1\n3,0\n5,1\n").string()));
  expect_error(Code::input, {"that had 4 samples, this has 3"}, part_of(put("c.csv", "1,0\n2,1\n3,0\n").string()));
  DataRequest whole_request = of(request.train);
  const TrainTest unsplit = load_train_test(whole_request);
  expect_error(Code::usage, {"without a split"}, [&] {
    (void)load_new_samples(whole_request, unsplit.origin, {"0", "1"}, Part::test);
  });
  whole_request.shuffle = 3;
  expect_error(Code::usage, {"order"}, [&] {
    (void)load_new_samples(whole_request, parts.origin, {"0", "1"}, Part::test);
  });
}

TEST_F(NewSamplesOf, TrainingSamplesAmongAllAreNoted) {
  DataRequest request = of(put("a.csv", "1,0\n2,1\n3,0\n4,1\n").string());
  const TrainTest all = load_train_test(request);
  EXPECT_TRUE(noted(load_new_samples(request, all.origin, {"0", "1"}), "trained on all of these"));
  request.split = 0.5;
  const TrainTest parts = load_train_test(request);
  const NewSamples found = load_new_samples(of(request.train), parts.origin, {"0", "1"});
  EXPECT_EQ(found.data.count(), 4);
  EXPECT_TRUE(noted(found, "trained on some of these samples; its test part was held out"));
  EXPECT_TRUE(load_new_samples(of(put("b.csv", "1,0\n2,1\n").string()), parts.origin, {"0", "1"}).notes.empty());
}

TEST_F(NewSamplesOf, TablesAreReadAsThenAndFilled) {
  DataRequest request = of(whole());
  request.table.drop = {"id"};
  request.table.missing = Missing::median;
  const TrainTest parts = load_train_test(request);
  const DataRequest fresh = of(put("new.csv", "colour,a\nblue,\ngreen,3\n").string());
  const NewSamples found = load_new_samples(fresh, parts.origin, parts.train.class_names);
  EXPECT_FALSE(found.data.labelled());
  EXPECT_EQ(rows_of<Rows>(found.data), (std::vector<Rows>{{*parts.origin.layout.columns[0].fill, 1, 0}, {3, 0, 0}}));
  EXPECT_TRUE(noted(found, "'green'"));

  DataOrigin unfilled = parts.origin;
  for (Column& column : unfilled.layout.columns) column.fill.reset();
  expect_error(Code::input, {"line 2", "empty cell"}, [&] { (void)load_new_samples(fresh, unfilled, {"p"}); });
  DataRequest dropping = fresh;
  dropping.table.missing = Missing::drop;
  EXPECT_EQ(load_new_samples(dropping, unfilled, {"p"}).data.count(), 1);
  dropping.table.missing = Missing::mean;
  expect_error(Code::usage, {"no fill values"}, [&] { (void)load_new_samples(dropping, unfilled, {"p"}); });
}

TEST_F(NewSamplesOf, LabelsSpeakTheModelsLanguage) {
  const DataRequest request = of(put("a.csv", "1,20\n2,7\n3,20\n").string());
  EXPECT_EQ(load_new_samples(request, {}, {"5", "7", "20"}).data.labels, (std::vector<Index>{2, 1, 2}));
  EXPECT_EQ(load_new_samples(request, {}, {}).data.targets, (std::vector<double>{20, 7, 20}));
  expect_error(Code::input, {"'20'", "select some"}, [&] { (void)load_new_samples(request, {}, {"5", "7"}); });
}

}  // namespace
}  // namespace widelimit
