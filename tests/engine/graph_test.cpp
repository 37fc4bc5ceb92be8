#include "widelimit/data/formats/graph.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/data/formats/npz.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"

#include "tests/base/random_graphs.hpp"
#include "tests/engine/engines.hpp"
#include "tests/paths.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

namespace widelimit {
namespace {

using test::Edges;
using test::random_graphs;

std::string preset(const nlohmann::json& settings) {
  return fmt::format("gntk:{}(mlp={}, scale={}, jk={})", settings.at("num_layers").get<int>(),
                     settings.at("num_mlp_layers").get<int>(), settings.at("scale").get<std::string>(),
                     settings.at("jumping_knowledge").get<bool>());
}

double worst(const Matrix<double>& ours, const Matrix<double>& expected) {
  double error = 0;
  for (Index i = 0; i < expected.rows(); ++i) {
    for (Index j = 0; j < expected.cols(); ++j) {
      error = std::max(error, std::abs(ours(i, j) - expected(i, j)) / std::abs(expected(i, j)));
    }
  }
  return error;
}

Matrix<double> ntk_of(const std::string& network, const Graphs& graphs, const Engine& engine) {
  return std::get<Matrix<double>>(
      gram(Network::parse(network), SampleView(graphs), {.precision = Precision::f64}, engine).ntk);
}

/// Returns the first `count` graphs of a catalogue set; none, with the reason in `absent`, if its data are missing.
Graphs first_graphs(const std::string& set, Index count, std::string& absent) {
  try {
    const Dataset all = load_data("graphs:" + set);
    return copy_graphs(all.view().part(0, count).graphs()->whole());
  } catch (const Error& error) {
    absent = error.what();
    if (absent.find("was not found") == std::string::npos) throw;
    return {};
  }
}

class GraphKernel : public testing::TestWithParam<std::string> {};

/// The authors' program takes the arc cosine of a ρ that rounding leaves some ulps below 1 for nodes with equal
/// neighbourhoods: each such κ₀ is too small by up to √(8ε)/π ≈ 1.3e-8, all others are accurate. So its kernels are too
/// small by at most 1.3e-8 for each of the R·(N − 1) layers, and never too large.
TEST_P(GraphKernel, AgreesWithTheProgramOfItsAuthors) {
  std::ifstream file(test::golden_file("open_graph.json"));
  const nlohmann::json cases = nlohmann::json::parse(file);
  const auto values = read_npz_arrays(test::golden_file("open_graph.npz")).arrays;
  const auto engine = test::engine_named(GetParam());
  for (const auto& [name, settings] : cases.items()) {
    const Index count = GetParam() == "reference" ? 7 : settings.at("count").get<Index>();  // the reference is slow
    std::string absent;
    const Graphs graphs = first_graphs(settings.at("dataset"), count, absent);
    if (!absent.empty()) GTEST_SKIP() << absent;
    const Matrix<double> ours = ntk_of(preset(settings), graphs, *engine);
    const auto& theirs = std::get<Matrix<double>>(values.at(name).values);
    const double layers = settings.at("num_mlp_layers").get<double>() * (settings.at("num_layers").get<double>() - 1);
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < count; ++j) {
        const double off = theirs(i, j) / ours(i, j) - 1;
        EXPECT_LE(off, 1e-11) << name;
        EXPECT_GE(off, -1.3e-8 * layers) << name;
      }
    }
  }
}

/// Both engines are accurate where the program is not.
TEST(GraphDigits, AreTheSameOnGraphsOfTheCatalogue) {
  for (const char* set : {"MUTAG", "PTC", "IMDBBINARY"}) {
    std::string absent;
    const Graphs graphs = first_graphs(set, 6, absent);
    if (!absent.empty()) GTEST_SKIP() << absent;
    for (const char* network : {"gntk:4(mlp=2)", "gntk:3(mlp=1, scale=uniform, jk=false)"}) {
      const Matrix<double> ours = ntk_of(network, graphs, *make_engine("cpu"));
      EXPECT_LE(worst(ours, ntk_of(network, graphs, *make_engine("reference"))), 1e-11) << set << " " << network;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, GraphKernel,
                         testing::ValuesIn(test::engines_and_cuda({"cpu", "reference", "emulated"})),
                         [](const auto& of) { return of.param; });

struct Both {
  Matrix<double> nngp, ntk;
};
Both both_of(const std::string& network, const SampleView& x1, const std::optional<SampleView>& x2,
             const Engine& engine) {
  const GramOptions options{.kind = Kind::both, .precision = Precision::f64};
  const Network parsed = Network::parse(network);
  Gram found = x2 ? gram(parsed, x1, *x2, options, engine) : gram(parsed, x1, options, engine);
  return {std::get<Matrix<double>>(std::move(found.nngp)), std::get<Matrix<double>>(std::move(found.ntk))};
}

TEST(GraphFormulas, HoldOnEveryEngine) {
  std::vector<std::unique_ptr<Engine>> engines;
  for (const std::string& name : test::engines_and_cuda({"cpu", "emulated"})) {
    engines.push_back(test::engine_named(name));
  }
  const auto reference = make_engine("reference");
  const Graphs tagged = random_graphs(6, 12, 1);
  const Graphs featured = random_graphs(5, 8, 2, 3);
  const Graphs more = random_graphs(3, WIDELIMIT_SANITIZED != 0 ? 8 : 30, 3);
  for (const char* network :
       {"gntk:2", "gntk:4(mlp=1, scale=uniform, jk=false)", "gntk:6(b_std=0.3)",
        "aggregate dense(b_std=0.2) gelu aggregate(scale=uniform) dense erf global_avg_pool dense",
        "dense leaky_relu(slope=0.2) global_sum_pool dense",
        "aggregate dense relu residual{ aggregate dense relu dense } global_sum_pool dense relu dense",
        "aggregate dense residual{ relu aggregate dense | relu dense aggregate relu aggregate dense } "
        "global_avg_pool dense",
        "aggregate dense layer_norm relu aggregate dense tanh global_sum_pool dense(w_std=1.3)",
        "aggregate dense relu dropout(rate=0.7) aggregate dense relu global_sum_pool dense",
        "global_sum_pool dense relu dense"}) {
    const auto compare = [&](const Graphs& first, const std::optional<SampleView>& second) {
      const Both expected = both_of(network, SampleView(first), second, *reference);
      for (const auto& engine : engines) {
        const Both ours = both_of(network, SampleView(first), second, *engine);
        EXPECT_LE(worst(ours.nngp, expected.nngp), 2e-11) << network << " on " << engine->name();
        EXPECT_LE(worst(ours.ntk, expected.ntk), 2e-11) << network << " on " << engine->name();
      }
    };
    compare(tagged, std::nullopt);
    compare(featured, std::nullopt);
    compare(tagged, SampleView(more));
  }
}

/// Engines that merge nodes of equal colour.
class GraphPath : public testing::TestWithParam<std::string> {
 protected:
  GraphPath() : engine_(test::engine_named(GetParam())) {}
  std::unique_ptr<Engine> engine_;
};
INSTANTIATE_TEST_SUITE_P(Engines, GraphPath, testing::ValuesIn(test::engines_and_cuda({"cpu", "emulated"})),
                         [](const auto& of) { return of.param; });

TEST(GraphThreads, BitsDoNotDependOnThreadsOrOnOtherGraphs) {
  const Graphs graphs = random_graphs(80, 30, 4);
  const Matrix<double> one = ntk_of("gntk:5", graphs, *make_engine("cpu", {.threads = 1}));
  const Matrix<double> three = ntk_of("gntk:5", graphs, *make_engine("cpu", {.threads = 3}));
  const Graphs few = gather_graphs(*SampleView(graphs).graphs(), std::vector<Index>{3, 41});
  const Matrix<double> pair = ntk_of("gntk:5", few, *make_engine("cpu"));
  EXPECT_EQ(pair(0, 1), one(3, 41));
  for (Index i = 0; i < 80; ++i) {
    for (Index j = 0; j < 80; ++j) {
      ASSERT_EQ(one(i, j), three(i, j));
      ASSERT_EQ(one(i, j), one(j, i));
    }
  }
}

/// Returns the same graph with permuted nodes.
Graphs renamed(const Graphs& graphs, Index step) {
  Graphs result;
  for (Index g = 0; g < graphs.count(); ++g) {
    const Index first = graphs.nodes[usize(g)];
    const Index n = graphs.nodes[usize(g) + 1] - first;
    while (std::gcd(step, n) != 1) ++step;
    const auto place = [&](Index u) { return (u * step + 1) % n; };
    Edges edges;
    std::vector<std::int64_t> tags(usize(n));
    for (Index u = 0; u < n; ++u) {
      tags[usize(place(u))] = graphs.tags[usize(first + u)];
      for (const std::int32_t v : graphs.neighbours_of(first + u)) edges.push_back({place(u), place(v)});
    }
    append_graph(result, {.nodes = n, .edges = edges, .list = EdgeList::both_ends, .tags = tags});
  }
  return result;
}

TEST_P(GraphPath, DoesNotDependOnTheOrderOfNodes) {
  const Graphs graphs = random_graphs(12, 37, 5);
  for (const char* network : {"gntk:10", "gntk:10(scale=uniform)"}) {
    const Matrix<double> ours = ntk_of(network, graphs, *engine_);
    const Matrix<double> theirs = ntk_of(network, renamed(graphs, 5), *engine_);
    EXPECT_LE(worst(theirs, ours), 1e-13) << network;
    const Both cross = both_of(network, SampleView(graphs), SampleView(renamed(graphs, 5)), *engine_);
    for (Index g = 0; g < 12; ++g) EXPECT_NEAR(cross.ntk(g, g) / ours(g, g), 1, 1e-13) << network;
  }
}

/// Approximates infinite width by many units: the covariance of the outputs of random finite-width graph networks, with
/// its standard error.
TEST(GraphLimit, IsTheLimitOfRandomNetworks) {
  constexpr Index width = 256;
  constexpr Index draws = 400;
  const Graphs graphs = random_graphs(2, 6, 6);
  const Both limit = both_of("gntk:3(mlp=1, jk=false)", SampleView(graphs), std::nullopt, *make_engine("cpu"));
  Matrix<double> sum(2, 2);
  Matrix<double> square(2, 2);
  for (Index draw = 0; draw < draws; ++draw) {
    std::array<double, 2> output{};
    for (Index g = 0; g < 2; ++g) {
      const Index first = graphs.nodes[usize(g)];
      const Index n = graphs.nodes[usize(g) + 1] - first;
      Matrix<double> h(n, 3);  // unit vectors of three tags, times √3 for the 1/√fan_in of the first layer
      for (Index u = 0; u < n; ++u) h(u, graphs.tags[usize(first + u)]) = std::sqrt(3.0);
      for (const std::uint64_t layer : {0, 1}) {
        Matrix<double> mean(n, h.cols());
        for (Index u = 0; u < n; ++u) {
          const auto neighbours = graphs.neighbours_of(first + u);
          for (Index c = 0; c < h.cols(); ++c) {
            mean(u, c) = h(u, c);
            for (const std::int32_t v : neighbours) mean(u, c) += h(v, c);
            mean(u, c) /= static_cast<double>(neighbours.size() + 1);
          }
        }
        const Random weights(static_cast<std::uint64_t>(draw), layer);
        Matrix<double> next(n, width);
        const double scale = std::sqrt(2.0 / static_cast<double>(h.cols()));
        for (Index c = 0; c < h.cols(); ++c) {
          for (Index k = 0; k < width; ++k) {
            const double w = scale * weights.normal(static_cast<std::uint64_t>(c * width + k));
            for (Index u = 0; u < n; ++u) next(u, k) += w * mean(u, c);
          }
        }
        for (Index k = 0; k < n * width; ++k) next.data()[k] = std::max(0.0, next.data()[k]);
        h = std::move(next);
      }
      const Random weights(static_cast<std::uint64_t>(draw), 2);
      for (Index k = 0; k < width; ++k) {
        const double w = std::sqrt(2.0 / width) * weights.normal(static_cast<std::uint64_t>(k));
        for (Index u = 0; u < n; ++u) output[usize(g)] += w * h(u, k);
      }
    }
    for (Index a = 0; a < 2; ++a) {
      for (Index b = 0; b < 2; ++b) {
        const double product = output[usize(a)] * output[usize(b)];
        sum(a, b) += product;
        square(a, b) += product * product;
      }
    }
  }
  for (Index a = 0; a < 2; ++a) {
    for (Index b = 0; b < 2; ++b) {
      const double mean = sum(a, b) / draws;
      const double error = std::sqrt((square(a, b) / draws - mean * mean) / draws);
      EXPECT_NEAR(mean, limit.nngp(a, b), 4 * error);
    }
  }
}

TEST_P(GraphPath, NodesAreSamplesWhereNothingSumsOverThem) {
  const Graphs graphs = random_graphs(9, 20, 9);
  const std::string blocks = "aggregate dense relu aggregate dense relu";
  const Index n = graphs.node_count();
  const SampleView nodes(graphs.node_view(), graphs.shape());
  const Both ours = both_of(blocks + " dense", nodes, std::nullopt, *engine_);
  ASSERT_EQ(ours.ntk.rows(), n);
  const Both expected = both_of(blocks + " dense", nodes, std::nullopt, *make_engine("reference"));
  EXPECT_LE(worst(ours.nngp, expected.nngp), 2e-11);
  EXPECT_LE(worst(ours.ntk, expected.ntk), 2e-11);
  // Their sums are the kernel of the graphs.
  const Both summed = both_of(blocks + " global_sum_pool dense", SampleView(graphs), std::nullopt, *engine_);
  for (Index g = 0; g < 9; ++g) {
    double sum = 0;
    for (Index u = graphs.nodes[usize(g)]; u < graphs.nodes[usize(g) + 1]; ++u) {
      for (Index v = graphs.nodes[3]; v < graphs.nodes[4]; ++v) sum += ours.ntk(u, v);
    }
    EXPECT_NEAR(sum / summed.ntk(g, 3), 1, 1e-12);
  }
  // A part that begins and ends within graphs.
  for (const char* backend : {"cpu", "reference"}) {
    const Both part = both_of(blocks + " dense", nodes.part(5, 21), nodes.part(1, 30), *make_engine(backend));
    for (Index i = 0; i < 21; ++i) {
      for (Index j = 0; j < 30; ++j) EXPECT_NEAR(part.ntk(i, j) / ours.ntk(5 + i, 1 + j), 1, 1e-12) << backend;
    }
  }
  EXPECT_THROW(static_cast<void>(both_of("gntk:2", nodes, std::nullopt, *engine_)), Error);
}

TEST_P(GraphPath, LayersAddUpToTheKernel) {
  const Graphs graphs = random_graphs(6, 12, 7);
  const Network network = Network::parse("gntk:3");
  const LayerContributions layers =
      layer_contributions(network, SampleView(graphs), {.precision = Precision::f64}, *engine_);
  const Matrix<double> ntk = ntk_of("gntk:3", graphs, *engine_);
  Matrix<double> sum(6, 6);
  for (const AnyMatrix& layer : layers.ntk) {
    for (Index k = 0; k < 36; ++k) sum.data()[k] += std::get<Matrix<double>>(layer).data()[k];
  }
  EXPECT_LE(worst(sum, ntk), 1e-13);
}

TEST_P(GraphPath, ZeroFeaturesAreNoTrouble) {
  Graphs graphs;
  const Edges edges{{0, 1}, {1, 2}};
  const std::vector<double> features{0, 0, 0, 0, 1, -2};
  append_graph(graphs, {.nodes = 3, .edges = edges, .features = {features.data(), 3, 2, 2}});
  const std::vector<double> none(6, 0.0);
  append_graph(graphs, {.nodes = 3, .edges = edges, .features = {none.data(), 3, 2, 2}});
  const Both ours = both_of("gntk:3", SampleView(graphs), std::nullopt, *engine_);
  const Both expected = both_of("gntk:3", SampleView(graphs), std::nullopt, *make_engine("reference"));
  EXPECT_GT(ours.ntk(0, 0), 0);
  EXPECT_EQ(ours.ntk(1, 1), 0);
  EXPECT_EQ(ours.ntk(0, 1), 0);
  EXPECT_NEAR(ours.ntk(0, 0) / expected.ntk(0, 0), 1, 1e-13);
}

TEST_P(GraphPath, RefusesWhatDoesNotFit) {
  const Graphs graphs = random_graphs(3, 5, 8);
  const Graphs featured = random_graphs(3, 5, 8, 1);
  const Matrix<double> rows(3, 4);
  const auto refusal = [&](const std::string& network, const SampleView& x) {
    try {
      static_cast<void>(gram(Network::parse(network), x, {}, *engine_));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal("gntk:2", SampleView(rows.view(), {1, 1, 4})),
            "layer 1.shortcut.1 (aggregate) sums over neighbours in a graph, but the samples are vectors");
  EXPECT_EQ(refusal("fc:2", SampleView(graphs)),
            "the network ends with values at each node; add global_sum_pool or global_avg_pool before its last dense "
            "layer, or request the kernel of nodes");
  EXPECT_EQ(refusal("conv relu flatten dense", SampleView(graphs)),
            "layer 1 (conv) needs positions on a grid, but the samples are graphs, whose nodes have no order");
  EXPECT_EQ(refusal("aggregate relu global_sum_pool dense", SampleView(graphs)),
            "layer 2 (relu) reads the network's inputs, which are not Gaussian: its kernel has no closed form; sample "
            "finite networks instead (the Monte Carlo method)");
  EXPECT_THROW(
      static_cast<void>(gram(Network::parse("gntk:2"), SampleView(graphs), SampleView(featured), {}, *engine_)), Error);
}

}  // namespace
}  // namespace widelimit
