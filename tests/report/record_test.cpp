#include "widelimit/report/record.hpp"

#include "widelimit/base/version.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace widelimit {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

/// Engine that has only a name.
class NamedEngine : public Engine {
 public:
  std::string name() const override { return "cpu"; }
  std::string description() const override { return "2 threads, AVX2"; }
  int threads() const override { return 2; }
  const Kernels& kernels() const override { fail(Code::usage, "no kernels"); }
  const Algebra& algebra() const override { fail(Code::usage, "no algebra"); }
};

std::string numerical_message(const Record& record) {
  try {
    static_cast<void>(record.to_json());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical);
    return error.what();
  }
  return "";
}

TEST(Record, KeepsTheOrderOfItsKeys) {
  Record record("kernel");
  record.settings["network"] = "fc:3";
  record.settings["a"] = 1;
  record.seed = std::numeric_limits<std::uint64_t>::max();
  record.timings = {{"read", 0.5}, {"gram", 0.25}};
  record.results["z"] = 1;
  record.results["b"] = {1.5, 2};
  record.ran_on(NamedEngine(), Precision::f32);
  const Json json = Json::parse(record.to_text());
  EXPECT_EQ(keys_of(json), (std::vector<std::string>{"widelimit", "verb", "settings", "seed", "backend", "precision",
                                                     "threads", "timings", "results"}));
  EXPECT_EQ(json["widelimit"], version());
  EXPECT_EQ(json["seed"].get<std::uint64_t>(), record.seed);
  EXPECT_EQ(json["backend"]["name"], "cpu");
  EXPECT_EQ(json["precision"], "f32");
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(keys_of(json["timings"]), (std::vector<std::string>{"read", "gram"}));
  EXPECT_EQ(keys_of(json["results"]), (std::vector<std::string>{"z", "b"}));
}

TEST(Record, WithoutAnEngineLeavesItOut) {
  const Json json = Record("data").to_json();
  EXPECT_FALSE(json.contains("backend"));
  EXPECT_TRUE(json["settings"].is_object());
  EXPECT_TRUE(json["timings"].is_object());
  EXPECT_TRUE(json["results"].is_object());
}

TEST(Record, RefusesWhatIsNotFiniteByName) {
  Record record("kernel");
  record.results["accuracy"] = {1.0, {{"deep", {0.0, std::nan("")}}}};
  EXPECT_NE(numerical_message(record).find("results.accuracy[1].deep[1]"), std::string::npos);
  Record slow("kernel");
  slow.timings = {{"gram", HUGE_VAL}};
  EXPECT_NE(numerical_message(slow).find("timings.gram"), std::string::npos);
}

TEST(Record, NumbersReadBackBitForBit) {
  Record record("kernel");
  const std::vector<double> values = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0};
  record.results["values"] = values;
  EXPECT_EQ(Json::parse(record.to_text())["results"]["values"].get<std::vector<double>>(), values);
}

TEST(Record, BrokenBytesStayReadable) {
  Record record("data");
  record.settings["file"] = "caf\xE9.csv";
  EXPECT_EQ(Json::parse(record.to_text())["settings"]["file"], "caf\xEF\xBF\xBD.csv");
}

}  // namespace
}  // namespace widelimit
