#include "widelimit/data/formats/graph.hpp"

#include "fixture.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/data/describe.hpp"

namespace widelimit {
namespace {

TEST(Graphs, LabelsAndTagsAreRanked) {
  const GraphSet set = parse_graphs("2\n3 2\n9 1 1\n4 2 2 0\n9 1 1\n1 0\n-1 0\n", "test");
  ASSERT_EQ(set.graphs.size(), 2U);
  EXPECT_EQ(set.class_names, (std::vector<std::string>{"0", "2"}));
  EXPECT_EQ(set.labels, (std::vector<Index>{1, 0}));
  EXPECT_EQ(set.tag_names, (std::vector<std::string>{"-1", "4", "9"}));
  EXPECT_EQ(set.graphs[0].tags, (std::vector<Index>{2, 1, 2}));
  EXPECT_EQ(set.graphs[0].neighbours[1], (std::vector<Index>{0, 2}));
  EXPECT_EQ(set.graphs[1].n, 1);
  EXPECT_TRUE(set.graphs[1].neighbours[0].empty());
}

TEST(Graphs, DamageIsAnErrorWithItsPlace) {
  const auto parse = [](std::string_view text) { return [text] { (void)parse_graphs(text, "test"); }; };
  expect_error(Code::input, {"number of graphs"}, parse(""));
  expect_error(Code::input, {"no graphs"}, parse("0\n"));
  expect_error(Code::input, {"more than the text"}, parse("999999999999\n"));
  expect_error(Code::input, {"number of graphs is -1"}, parse("-1\n"));
  expect_error(Code::input, {"line 2", "label"}, parse("1\n1 x\n"));
  expect_error(Code::input, {"line 2", "the label of graph 0 is missing"}, parse("1\n2\n0 1 1\n0 1 0\n"));
  expect_error(Code::input, {"line 5", "the label of graph 1 is missing"},
               parse("2\n2 0\n0 1 1\n0 1 0\n2 \n0 1 1\n0 1 0\n"));
  expect_error(Code::input, {"line 2", "the label of graph 0 is missing"}, parse("1\n0"));
  expect_error(Code::input, {"line 3", "graph 0, node 0", "neighbour 2"}, parse("1\n2 0\n0 1 2\n0 0\n"));
  expect_error(Code::input, {"graph 0, node 0", "own neighbour"}, parse("1\n2 0\n0 1 0\n0 0\n"));
  expect_error(Code::input, {"graph 0, node 0", "twice"}, parse("1\n2 0\n0 2 1 1\n0 1 0\n"));
  expect_error(Code::input, {"one of its ends", "0-1"}, parse("1\n2 0\n0 1 1\n0 0\n"));
  expect_error(Code::input, {"after the last"}, parse("1\n1 0\n0 0\n7\n"));
  expect_error(Code::input, {"expected"}, parse("1\n1 0\n0 0x\n"));
}

TEST(Graphs, LabelsCanBeLeftOut) {
  const GraphSet set = parse_graphs("2\n2 7\n0 1 1\n0 1 0\n2\n0 1 1\n0 1 0\n", "test", {}, false);
  EXPECT_EQ(set.graphs.size(), 2U);
  EXPECT_TRUE(set.labels.empty());
  EXPECT_TRUE(set.class_names.empty());
  EXPECT_EQ(describe(set).problems, std::vector<std::string>{"unlabelled"});
}

TEST(Graphs, SharedSetsMatchTheirPublishedSizes) {
  struct Known {
    const char* name;
    Index graphs;
    Index tags;
    double nodes;
    double edges;
  };
  for (const Known& known : {Known{"MUTAG", 188, 7, 17.93, 19.79}, Known{"PTC", 344, 19, 25.56, 25.96},
                             Known{"PROTEINS", 1113, 3, 39.06, 72.82}, Known{"IMDBMULTI", 1500, 1, 13.00, 65.94}}) {
    GraphSet set;
    try {
      set = load_graphs(std::string("graphs:") + known.name);
    } catch (const Error& error) {
      if (std::string_view(error.what()).find("was not found") == std::string_view::npos) throw;
      GTEST_SKIP() << error.what();
    }
    const GraphDescription description = describe(set);
    EXPECT_EQ(description.count, known.graphs) << known.name;
    EXPECT_EQ(description.tags, known.tags) << known.name;
    EXPECT_NEAR(description.mean_nodes, known.nodes, 0.005) << known.name;
    EXPECT_NEAR(description.mean_edges, known.edges, 0.005) << known.name;
    ASSERT_EQ(set.folds.size(), 10U) << known.name;
    for (const SplitRows& fold : set.folds) EXPECT_EQ(std::ssize(fold.train) + std::ssize(fold.test), known.graphs);
  }
}

TEST(Graphs, AreDescribedWithTheirProblems) {
  const GraphSet set = parse_graphs("3\n2 0\n0 1 1\n0 1 0\n1 1\n0 0\n2 1\n0 0\n0 0\n", "test");
  const GraphDescription description = describe(set);
  EXPECT_EQ(description.isolated, 3);
  const std::vector<std::string> expected{"2 graphs have no edges, the first of them graph 1; kernels reject them",
                                          "3 nodes have no neighbours", "class '0' has only 1 graph",
                                          "class '1' has only 2 graphs"};
  EXPECT_EQ(description.problems, expected);
  EXPECT_NE(to_text(description).find("note: " + expected[0] + "\n"), std::string::npos);
  EXPECT_EQ(to_json(description)["problems"], nlohmann::json(expected));
}

TEST(Graphs, WithoutNodesAreDescribedAsSuch) {
  const auto problems = [](std::string_view text) { return describe(parse_graphs(text, "test")).problems; };
  EXPECT_EQ(problems("2\n2 0\n0 1 1\n0 1 0\n0 0\n").front(), "graph 1 has no nodes; kernels reject it");
  const auto both = problems("3\n0 0\n1 0\n0 0\n0 0\n");
  EXPECT_EQ(both[0], "2 graphs have no nodes, the first of them graph 0; kernels reject them");
  EXPECT_EQ(both[1], "graph 1 has no edges; kernels reject it");
}

TEST(Graphs, StayWithinTheMemoryThatReadingMayTake) {
  // A node of four bytes of text takes forty bytes of memory.
  std::string text = "1\n5000 0\n";
  for (int i = 0; i < 5000; ++i) text += "0 0\n";
  EXPECT_EQ(parse_graphs(text, "test", {.memory = std::size_t{1} << 20}).graphs.size(), 1U);
  expect_error(Code::resource, {"reading test needs about", "the limit is"},
               [&] { (void)parse_graphs(text, "test", {.memory = 100'000}); });
}

}  // namespace
}  // namespace widelimit
