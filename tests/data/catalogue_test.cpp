#include "widelimit/data/catalogue/catalogue.hpp"

#include "fixture.hpp"
#include "widelimit/data/describe.hpp"
#include "widelimit/data/file/location.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace widelimit {
namespace {

using std::string_literals::operator""s;

/// Sets environment variables for one test.
class Environment : public Folder {
 protected:
  ~Environment() override {
    for (const auto& entry : before_) {
      entry.second ? setenv(entry.first.c_str(), entry.second->c_str(), 1) : unsetenv(entry.first.c_str());
    }
  }
  void set(const std::string& name, const std::string& text) {
    const char* old = std::getenv(name.c_str());
    before_.emplace(name, old != nullptr ? std::optional<std::string>(old) : std::nullopt);
    setenv(name.c_str(), text.c_str(), 1);
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

class Catalogue : public Environment {};

/// Returns std::nullopt if this machine does not have the set.
std::optional<Dataset> load_if_present(const std::string& spec) {
  try {
    return load_data(spec);
  } catch (const Error& error) {
    if (std::string_view(error.what()).find("was not found") == std::string_view::npos) throw;
    return std::nullopt;
  }
}

constexpr const char* absent = "not in $WIDELIMIT_DATA or the cache";

TEST(Spec, NamePartAndArguments) {
  const DataSpec plain = parse_spec("digits");
  EXPECT_EQ(plain.name, "digits");
  EXPECT_TRUE(plain.part.empty() && plain.arguments.empty());
  const DataSpec full = parse_spec("a:b( n = 3 ,noise=0.1)");
  EXPECT_EQ(full.name, "a");
  EXPECT_EQ(full.part, "b");
  EXPECT_EQ(full.arguments, (std::map<std::string, std::string>{{"n", "3"}, {"noise", "0.1"}}));
  expect_error(Code::usage, {"not closed"}, [] { (void)parse_spec("a(n=3"); });
  expect_error(Code::usage, {"key=value"}, [] { (void)parse_spec("a(n)"); });
  expect_error(Code::usage, {"key=value"}, [] { (void)parse_spec("a(=1)"); });
}

TEST(Digits, AreTheOnesOfUci) {
  const Dataset data = load_data("digits");
  EXPECT_EQ(data.count(), 1797);
  EXPECT_EQ(data.shape, (Shape{8, 8, 1}));
  const DataDescription description = describe(data);
  EXPECT_EQ(description.low, 0);
  EXPECT_EQ(description.high, 16);
  std::vector<Index> counts;
  for (const auto& entry : description.classes) counts.push_back(entry.second);
  EXPECT_EQ(counts, (std::vector<Index>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}));
  const auto& m = std::get<Matrix<double>>(data.values);
  EXPECT_EQ(std::accumulate(m.data(), m.data() + 64, 0.0), 294);
}

TEST(Synthetics, TakeArguments) {
  EXPECT_EQ(load_data("spirals").count(), 400);
  const Dataset data = load_data("spirals(n=20,noise=0,seed=3)");
  EXPECT_EQ(data.count(), 20);
  EXPECT_EQ(data.name, "spirals(n=20,noise=0,seed=3)");
  for (const char* bad : {"spirals(n=1)", "spirals(n=2.5)", "spirals(n=x)", "moons(noise=-1)", "moons(size=3)",
                          "circles:train", "digits:test", "digits(n=3)", "mnist", "cifar10:valid", "uci:../x", "uci"}) {
    expect_error(Code::usage, {}, [&] { (void)load_data(bad); });
  }
}

TEST_F(Catalogue, UnknownNamesAndMissingSetsSayWhatToDo) {
  set("WIDELIMIT_DATA", path("data").string());
  set("XDG_CACHE_HOME", path("cache").string());
  expect_error(Code::input, {"nonsense", "digits", "uci:NAME", ".libsvm"}, [] { (void)load_data("nonsense"); });
  expect_error(Code::input, {"absent.csv"}, [] { (void)load_data("absent.csv"); });
  expect_error(Code::input, {"graphs:MUTAG"}, [] { (void)load_data("graphs:MUTAG"); });
  expect_error(Code::input, {"graphs:NOSUCH", path("data").string(), path("cache").string()},
               [] { (void)load_graphs("graphs:NOSUCH"); });
  std::filesystem::create_directories(path("data/graphs/MUTAG"));
  expect_error(Code::input, {"graphs:MUTG; did you mean 'MUTAG'?"}, [] { (void)load_graphs("graphs:MUTG"); });
}

TEST_F(Catalogue, NothingIsLookedForBesideTheWorkingDirectory) {
  set("WIDELIMIT_DATA", "");
  set("XDG_CACHE_HOME", "cache");  // relative, hence ignored
  set("HOME", path("home").string());
  EXPECT_EQ(data_folders(), std::vector<std::filesystem::path>{path("home/.cache/widelimit")});
  set("HOME", "");
  EXPECT_TRUE(data_folders().empty());
}

TEST_F(Catalogue, MissingSetsSayWhatFetchesThem) {
  set("WIDELIMIT_DATA", path("data").string());
  set("XDG_CACHE_HOME", path("cache").string());
  const auto fetched_by = [](const auto& load) {
    try {
      load();
    } catch (const MissingSet& missing) {
      EXPECT_EQ(missing.code(), Code::input);
      return missing.fetch_name();
    }
    return std::string("found");
  };
  for (const auto& [spec, name] : std::map<std::string, std::string>{{"mnist:train", "mnist"},
                                                                     {"mnist:test", "mnist"},
                                                                     {"cifar10:test", "cifar10"},
                                                                     {"uci:iris", "uci:iris"},
                                                                     {"uci:own", ""}}) {
    EXPECT_EQ(fetched_by([&request = spec] { (void)load_data(request); }), name) << spec;
  }
  EXPECT_EQ(fetched_by([] { (void)load_graphs("graphs:MUTAG"); }), "");
  for (const CatalogueEntry& entry : list_data()) {
    if (entry.name != "uci:NAME") continue;
    EXPECT_TRUE(entry.where.empty());
    EXPECT_EQ(entry.members.size(), 90U);  // those that can be fetched
  }
}

/// The original is preferred to batches that were decoded from JPEG files into the same folder.
TEST_F(Catalogue, TheOriginalCifarComesFirst) {
  set("WIDELIMIT_DATA", path("data").string());
  std::string record(3073, '\7');
  record[0] = 3;
  put("data/cifar10/test_batch.bin", record);
  EXPECT_EQ(load_data("cifar10:test").labels, std::vector<Index>{3});
  record[0] = 5;
  put("data/cifar10/cifar-10-batches-bin/test_batch.bin", record);
  EXPECT_EQ(load_data("cifar10:test").labels, std::vector<Index>{5});
}

TEST_F(Catalogue, FoldersAndFilesOfNoFormatAreToldFromUnknownNames) {
  const std::string text = put("notes.docx", "words").string();
  const std::string folder = std::filesystem::path(text).parent_path().string();
  expect_error(Code::input, {"no .png", "folder"}, [&] { (void)load_data(folder); });
  expect_error(Code::input, {"unknown extension", ".npz"}, [&] { (void)load_data(text); });
}

TEST_F(Catalogue, FilesByTheirEndings) {
  const std::string csv = put("a.csv", "1,2,0\n3,4,1\n").string();
  EXPECT_EQ(load_data(csv).count(), 2);
  EXPECT_EQ(load_data(csv).name, csv);
  EXPECT_EQ(load_data(csv + "(label=none)").shape.size(), 3);
  EXPECT_EQ(load_data(put("a(1).tsv", "1\t2\t0\n").string()).count(), 1);
  EXPECT_EQ(load_data(put("a.svm", "1 1:2\n").string()).count(), 1);
  DataOptions options;
  options.label = "0";
  EXPECT_EQ(load_data(csv, options).class_names, (std::vector<std::string>{"1", "3"}));
  expect_error(Code::usage, {"colour"}, [&] { (void)load_data(csv + "(colour=2)"); });
}

TEST_F(Catalogue, EnvironmentComesFirst) {
  set("WIDELIMIT_DATA", path("data").string());
  set("XDG_CACHE_HOME", path("cache").string());
  put("data/uci/iris.csv", "1,0\n");
  put("cache/widelimit/uci/iris.csv", "1,0\n2,1\n");
  put("cache/widelimit/uci/own.csv", "1,0\n2,1\n3,0\n");
  EXPECT_EQ(load_data("uci:iris").count(), 1);
  EXPECT_EQ(load_data("uci:own").count(), 3);
}

/// Tables of the catalogue support column options as files do; sets without columns reject them.
TEST_F(Catalogue, ColumnsOfUciTablesAreChosen) {
  set("WIDELIMIT_DATA", path("data").string());
  put("data/uci/own.csv", "1,?,5,0\n2,20,6,1\n3,40,7,0\n");
  EXPECT_THROW((void)load_data("uci:own"), Error);
  DataOptions options;
  options.table.drop = {"0"};
  options.table.missing = Missing::mean;
  const Dataset filled = load_data("uci:own", options);
  ASSERT_EQ(filled.shape.size(), 2);
  EXPECT_EQ(value(filled, 0, 0), 30);
  EXPECT_EQ(value(filled, 0, 1), 5);
  options.table = {.missing = Missing::drop};
  EXPECT_EQ(load_data("uci:own", options).count(), 2);
  options.like = &filled.layout;
  const Dataset like = load_data("uci:own", options);
  ASSERT_EQ(like.shape.size(), 2);
  EXPECT_EQ(value(like, 0, 0), 20);
  options = {.label = "2"};
  options.table.drop = {"1"};
  EXPECT_EQ(load_data("uci:own", options).class_names, (std::vector<std::string>{"5", "6", "7"}));
  options = {};
  options.table.drop = {"0"};
  for (const char* spec : {"digits", "mnist:train", "cifar10:test", "spirals"}) {
    expect_error(Code::usage, {spec, "is not a table", "uci:NAME"}, [&] { (void)load_data(spec, options); });
  }
}

TEST_F(Catalogue, CifarBatchesAreJoined) {
  set("WIDELIMIT_DATA", path("data").string());
  for (int batch = 1; batch <= 5; ++batch) {
    std::string record(3073, '\7');
    record[0] = static_cast<char>(batch);
    put("data/cifar10/cifar-10-batches-bin/data_batch_" + std::to_string(batch) + ".bin", record);
  }
  const Dataset data = load_data("cifar10:train");
  EXPECT_EQ(data.labels, (std::vector<Index>{1, 2, 3, 4, 5}));
}

TEST_F(Catalogue, MnistFromTheEnvironment) {
  set("WIDELIMIT_DATA", path("data").string());
  put("data/mnist/t10k-images-idx3-ubyte", "\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x02\x01\x02"s);
  put("data/mnist/t10k-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\x01\x07"s);
  const Dataset data = load_data("mnist:test");
  EXPECT_EQ(data.count(), 1);
  EXPECT_EQ(data.name, "mnist:test");
}

TEST_F(Catalogue, ListNamesEverything) {
  set("WIDELIMIT_DATA", path("data").string());
  put("data/graphs/TINY/TINY.txt", "1\n1 0\n0 0\n");
  const auto entries = list_data();
  const auto find = [&](const std::string& name) {
    return std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; });
  };
  for (const char* name : {"digits", "spirals", "mnist:train|test", "cifar10:train|test", "uci:NAME", "graphs:NAME"}) {
    ASSERT_NE(find(name), entries.end()) << name;
  }
  EXPECT_EQ(find("digits")->where, "embedded");
  EXPECT_EQ(find("graphs:NAME")->members, std::vector<std::string>{"TINY"});
  EXPECT_EQ(load_graphs("graphs:TINY").graphs.size(), 1U);
  expect_error(Code::input, {"graph 0 has no edges"}, [] { (void)load_data("graphs:TINY"); });
  put("data/graphs/PAIR/PAIR.txt", "2\n2 5\n0 1 1\n0 1 0\n3 -1\n0 1 1\n0 2 0 2\n0 1 1\n");
  const Dataset pair = load_data("graphs:PAIR");
  EXPECT_EQ(pair.count(), 2);
  EXPECT_EQ(pair.shape, (Shape{1, 1, 1, true}));
  EXPECT_EQ(pair.class_names, (std::vector<std::string>{"-1", "5"}));
  EXPECT_EQ(pair.labels, (std::vector<Index>{1, 0}));
  EXPECT_EQ(std::get<Graphs>(pair.values).tags, (std::vector<std::int64_t>{1, 1, 1, 2, 1})) << "degrees";
  EXPECT_EQ(pair.notes.size(), 1U);
}

TEST(SharedMnist, HasItsSizesAndClasses) {
  const auto found = load_if_present("mnist:test");
  if (!found) GTEST_SKIP() << absent;
  const Dataset& data = *found;
  EXPECT_EQ(data.count(), 10000);
  EXPECT_EQ(data.shape, (Shape{28, 28, 1}));
  const DataDescription description = describe(data);
  EXPECT_EQ(description.high, 255);
  EXPECT_EQ(description.classes.front(), (std::pair<std::string, Index>{"0", 980}));
}

TEST_F(Catalogue, SharedUciGoesThroughTheCache) {
  set("XDG_CACHE_HOME", path("cache").string());
  const auto found = load_if_present("uci:abalone");
  if (!found) GTEST_SKIP() << absent;
  const Dataset& data = *found;
  EXPECT_EQ(data.count(), 4177);
  EXPECT_EQ(data.class_names.size(), 3U);
  EXPECT_TRUE(std::filesystem::exists(path("cache/widelimit/uci/abalone.csv")));
  EXPECT_EQ(load_data("uci:abalone").count(), 4177);
  expect_error(Code::input, {"nosuch", "abalone"}, [] { (void)load_data("uci:nosuch"); });
  expect_error(Code::input, {"uci:abalne; did you mean 'abalone'?"}, [] { (void)load_data("uci:abalne"); });
}

TEST_F(Catalogue, UnwritableCacheCostsOnlyTime) {
  set("XDG_CACHE_HOME", put("file", "not a folder").string());
  const auto found = load_if_present("uci:abalone");
  if (!found) GTEST_SKIP() << absent;
  const Dataset& data = *found;
  EXPECT_EQ(data.count(), 4177);
}

}  // namespace
}  // namespace widelimit
