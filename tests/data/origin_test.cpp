#include "widelimit/data/origin.hpp"

#include "fixture.hpp"

#include <nlohmann/json.hpp>

namespace widelimit {
namespace {

DataOrigin full_origin() {
  DataOrigin origin;
  origin.layout = {.columns = {{"a", 3, {}, 0.1}, {"colour", 0, {"blue", "red"}, 1}},
                   .label = "y",
                   .label_place = 1,
                   .cells = 4,
                   .missing = Missing::median};
  origin.layout.outputs = {{"z", 2, {}, {}}};
  origin.samples = 37;
  origin.checksum = 0xFEDCBA9876543210U;
  origin.label = "y";
  origin.classes = {"p", "q"};
  origin.shuffle = 0xFFFFFFFFFFFFFFFFU;
  origin.split = Split{1.0 / 3, SplitOrder::file, 9};
  origin.limit = 7;
  return origin;
}

TEST(Origin, JsonKeepsIt) {
  EXPECT_EQ(parse_origin_text(origin_text(full_origin())), full_origin());
  EXPECT_EQ(parse_origin(nlohmann::ordered_json::parse(origin_json(full_origin()).dump())), full_origin());
  EXPECT_EQ(parse_origin(origin_json({})), DataOrigin{});
  EXPECT_FALSE(DataOrigin{}.known());
}

TEST(Origin, DamageIsAnError) {
  const nlohmann::ordered_json good = origin_json(full_origin());
  for (const auto& [pointer, value] : std::vector<std::pair<const char*, nlohmann::ordered_json>>{
           {"/samples", -1},
           {"/samples", "many"},
           {"/checksum", "xyz"},
           {"/limit", 0},
           {"/split/fraction", 1.5},
           {"/split/order", "random"},
           {"/table/cells", 3},
           {"/table/label_place", 4},
           {"/table/columns/0/place", -1},
           {"/table/columns/1/fill", 2},
           {"/table/columns/1/fill", 0.5},
           {"/table/missing", "guess"},
           {"/table/columns", 7},
           {"/table/outputs/0/place", 9},
       }) {
    auto bad = good;
    bad[nlohmann::ordered_json::json_pointer(pointer)] = value;
    expect_error(Code::input, {"damaged"}, [&] { (void)parse_origin(bad); });
  }
}

TEST(Origin, TextThatIsNoneIsAnError) {
  for (const std::string& text : {std::string(), std::string("7"), std::string("{"), std::string(100000, '['),
                                  std::string("{\"table\":") + std::string(100000, '[')}) {
    expect_error(Code::input, {"damaged"}, [&] { (void)parse_origin_text(text); });
  }
  DataOrigin origin;
  origin.label = "\xFF";
  EXPECT_EQ(parse_origin_text(origin_text(origin)).label, "\uFFFD");
}

TEST(Origin, ChecksumDependsOnValuesAndShape) {
  const std::uint64_t sum = sample_checksum(table({{1, 2}, {3, 4}}));
  EXPECT_EQ(sum, sample_checksum(table({{1, 2}, {3, 4}}, {0, 1})));
  EXPECT_NE(sum, sample_checksum(table({{1, 2}, {4, 3}})));
  EXPECT_NE(sum, sample_checksum(table({{3, 4}, {1, 2}})));
  EXPECT_NE(sum, sample_checksum(table({{1, 2, 3, 4}})));
}

}  // namespace
}  // namespace widelimit
