#include "tests/base/random_graphs.hpp"
#include "tests/engine/engines.hpp"
#include "tests/kernel/gram_file_fixture.hpp"
#include "widelimit/kernel/network_gram.hpp"
#include "widelimit/kernel/request.hpp"

namespace widelimit::test {
namespace {

TEST(GraphGram, ResumesToTheSameBits) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "k.h5";
  const Graphs graphs = random_graphs(150, 12, 1);
  const Graphs others = random_graphs(20, 12, 2);
  const Network network = Network::parse("gntk:3(mlp=1)");
  const std::vector<GramBlock> blocks{{"", SampleView(graphs), std::nullopt},
                                      {"test_", SampleView(others), SampleView(graphs)}};
  GramFileOptions options{.kind = Kind::ntk, .precision = Precision::f64};
  options.existing = Existing::resume;
  int stops = 0;
  for (; !std::filesystem::exists(path); ++stops) {
    ASSERT_LT(stops, 200);
    StopAfter progress(1);
    options.progress = &progress;
    options.most_loaded = stops % 2 == 0 ? 0 : 64;
    try {
      (void)write_gram(path, {&network, 1}, blocks, options, *cpu);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), Code::interrupted) << error.what();
    }
  }
  EXPECT_GE(stops, 1);
  const GramOptions how{.kind = Kind::ntk, .precision = Precision::f64};
  expect_written(path, "ntk", gram(network, SampleView(graphs), how, *cpu).ntk);
  expect_written(path, "test_ntk", gram(network, SampleView(others), SampleView(graphs), how, *cpu).ntk);
  Graphs changed = graphs;
  changed.tags.front() += 1;
  const GramBlock block{"", SampleView(changed), std::nullopt};
  EXPECT_EQ(thrown_code([&] { (void)write_gram(path, {&network, 1}, {&block, 1}, options, *cpu); }), Code::usage);
}

TEST(GraphGram, MultipliesWithoutTheMatrix) {
  const Graphs graphs = random_graphs(70, 10, 3);
  const Network network = Network::parse("gntk:2");
  for (const std::string& name : engines_and_cuda({"cpu", "emulated"})) {
    SCOPED_TRACE(name);
    const auto engine = engine_named(name);
    const Matrix<double> k =
        std::get<Matrix<double>>(gram(network, SampleView(graphs), {.precision = Precision::f64}, *engine).ntk);
    NetworkGramOptions options;
    options.precision = Precision::f64;
    const GramMatrix product = network_gram(network, SampleView(graphs), options, *engine);
    const std::vector<Index> chosen{0, 69, 33};
    const Matrix<double> columns = product.columns(chosen);
    for (Index i = 0; i < 70; ++i) {
      for (Index j = 0; j < 3; ++j) EXPECT_NEAR(columns(i, j) / k(i, chosen[usize(j)]), 1, 1e-13);
    }
  }
}

TEST(GraphGram, MonteCarloRefusesGraphs) {
  const Graphs graphs = random_graphs(3, 5, 4);
  KernelRequest request{.kernel = Network::parse("gntk:2")};
  request.method = Method::monte_carlo;
  const Error error = thrown_error([&] { (void)compute_kernel(request, SampleView(graphs), std::nullopt, *cpu); });
  EXPECT_NE(std::string(error.what()).find("graphs"), std::string::npos) << error.what();
}

}  // namespace
}  // namespace widelimit::test
