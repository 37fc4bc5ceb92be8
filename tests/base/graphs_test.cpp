#include "widelimit/base/graphs.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/samples.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace widelimit {
namespace {

using Edges = std::vector<std::array<Index, 2>>;

Graphs triangle_with_tail() {
  Graphs graphs;
  const Edges edges{{0, 1}, {1, 2}, {2, 0}, {2, 3}};
  const std::vector<std::int64_t> tags{7, 7, 8, 9};
  append_graph(graphs, {.nodes = 4, .edges = edges, .tags = tags});
  return graphs;
}

std::string refusal(const GraphSource& source, Graphs graphs = {}) {
  try {
    append_graph(graphs, source);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::input);
    return error.what();
  }
  return "";
}

TEST(Graphs, HoldEachEdgeAtBothEnds) {
  const Graphs graphs = triangle_with_tail();
  EXPECT_EQ(graphs.count(), 1);
  EXPECT_EQ(graphs.neighbours, (std::vector<std::int32_t>{1, 2, 0, 2, 0, 1, 3, 2}));
  EXPECT_EQ(graphs.neighbours_of(3).front(), 2);
  EXPECT_EQ(graphs.shape(), (Shape{1, 1, 1, true}));
  EXPECT_EQ(to_string(graphs.shape()), "nodesx1");
  EXPECT_NO_THROW(graphs.validate());
}

TEST(Graphs, TakeEdgesOnceOrInBothDirections) {
  const Edges once{{0, 1}, {1, 2}};
  const Edges both{{1, 0}, {2, 1}, {0, 1}, {1, 2}};
  Graphs a, b, c;
  append_graph(a, {.nodes = 3, .edges = once});
  append_graph(b, {.nodes = 3, .edges = both});
  append_graph(c, {.nodes = 3, .edges = both, .list = EdgeList::both_ends});
  EXPECT_EQ(a, b);
  EXPECT_EQ(a, c);
  EXPECT_EQ(a.tags, (std::vector<std::int64_t>{1, 2, 1})) << "degrees";
}

TEST(Graphs, RefuseWhatIsNoGraphByGraphAndNode) {
  const Edges edge{{0, 1}};
  const Edges loop{{0, 1}, {1, 1}};
  const Edges outside{{0, 1}, {1, 5}};
  const Edges negative{{-1, 1}};
  const Edges twice{{0, 1}, {0, 1}};
  const std::vector<std::int64_t> one_tag{1};
  EXPECT_EQ(refusal({.nodes = 0}), "graph 0 has no nodes");
  EXPECT_EQ(refusal({.nodes = 3}), "graph 0 has no edges; leave it out");
  EXPECT_EQ(refusal({.nodes = 2, .edges = loop}),
            "graph 0: node 1 has an edge to itself; a node belongs to its neighbourhood anyway");
  EXPECT_EQ(refusal({.nodes = 3, .edges = outside}, triangle_with_tail()),
            "graph 1: the edge 1-5 refers to node 5, but its 3 nodes are 0 to 2");
  EXPECT_EQ(refusal({.nodes = 3, .edges = negative}),
            "graph 0: the edge -1-1 refers to node -1, but its 3 nodes are 0 to 2");
  EXPECT_EQ(refusal({.nodes = 3, .edges = twice}), "graph 0: the edge 0-1 is listed twice");
  EXPECT_EQ(refusal({.nodes = 2, .edges = edge, .list = EdgeList::both_ends}),
            "graph 0: the edge 0-1 is listed at node 0 only; graphs are undirected");
  const Edges mixed{{0, 1}, {1, 0}, {1, 2}};
  EXPECT_EQ(refusal({.nodes = 3, .edges = mixed}),
            "graph 0: the edge 0-1 is listed in both directions, but 1-2 in one only; list each edge once, or each in "
            "both directions");
  Graphs named;
  try {
    append_graph(named, {.nodes = 3}, 8);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "graph 8 has no edges; leave it out");
  }
  EXPECT_EQ(refusal({.nodes = 2, .edges = edge, .tags = one_tag}), "graph 0 has 1 tags for 2 nodes");
  // Model files store numbers as doubles, which would round a larger tag to another tag.
  const std::vector<std::int64_t> large{1, (std::int64_t{1} << 53) + 1};
  EXPECT_EQ(
      refusal({.nodes = 2, .edges = edge, .tags = large}),
      "graph 0, node 1: the tag 9007199254740993 is beyond ±2⁵³, the range in which files store integers exactly");
}

TEST(Graphs, RefuseFeaturesThatDoNotFit) {
  const Edges edge{{0, 1}};
  const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
  const std::vector<double> bad{1, 2, 3, std::numeric_limits<double>::infinity()};
  Graphs graphs;
  append_graph(graphs, {.nodes = 2, .edges = edge, .features = {numbers.data(), 2, 3, 3}});
  EXPECT_EQ(graphs.shape(), (Shape{1, 1, 3, true}));
  EXPECT_EQ(refusal({.nodes = 2, .edges = edge, .features = {numbers.data(), 2, 2, 2}}, graphs),
            "graph 1 has 2 features per node, graph 0 has 3");
  EXPECT_EQ(refusal({.nodes = 2, .edges = edge}, graphs), "graph 1 has no features, graph 0 has 3 per node");
  EXPECT_EQ(refusal({.nodes = 2, .edges = edge, .features = {numbers.data(), 3, 2, 2}}),
            "graph 0 has 3 rows of features for 2 nodes");
  EXPECT_EQ(refusal({.nodes = 2, .edges = edge, .features = {bad.data(), 2, 2, 2}}),
            "graph 0, node 1: feature 1 is inf; remove or replace it first");
  EXPECT_EQ(refusal({.nodes = 2, .edges = edge, .features = {numbers.data(), 2, 2, 2}}, triangle_with_tail()),
            "graph 1 has 2 features per node, graph 0 has tags");
}

TEST(Graphs, DamagedArraysAreFound) {
  const auto damaged = [](const auto& damage) {
    Graphs graphs = triangle_with_tail();
    damage(graphs);
    EXPECT_THROW(graphs.validate(), Error);
  };
  damaged([](Graphs& g) { g.nodes.back() = 3; });
  damaged([](Graphs& g) { g.edges[1] = 100; });
  damaged([](Graphs& g) { g.neighbours[0] = 9; });
  damaged([](Graphs& g) { g.neighbours[0] = 3; });
  damaged([](Graphs& g) { g.tags.pop_back(); });
  damaged([](Graphs& g) { std::swap(g.neighbours[0], g.neighbours[1]); });
  damaged([](Graphs& g) { g.nodes.clear(); });
}

TEST(Graphs, PartsAndCopiesAreOfWholeGraphs) {
  Graphs graphs = triangle_with_tail();
  const Edges edge{{0, 1}};
  const std::vector<std::int64_t> tags{3, 4};
  append_graph(graphs, {.nodes = 2, .edges = edge, .tags = tags});
  const SampleView all(graphs);
  EXPECT_EQ(all.count(), 2);
  const SampleView second = all.part(1, 1);
  EXPECT_EQ(second.graphs()->node_count(), 2);
  const std::vector<Index> turned{1, 0, 1};
  const Graphs copy = gather_graphs(*all.graphs(), turned);
  EXPECT_EQ(copy.nodes, (std::vector<Index>{0, 2, 6, 8}));
  EXPECT_EQ(copy.tags, (std::vector<std::int64_t>{3, 4, 7, 7, 8, 9, 3, 4}));
  EXPECT_NO_THROW(copy.validate());
  try {
    (void)all.dense({"classical kernels", "use another kernel"});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "classical kernels do not take graphs; use another kernel");
  }
}

}  // namespace
}  // namespace widelimit
