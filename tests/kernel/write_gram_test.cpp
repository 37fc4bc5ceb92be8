#include "widelimit/kernel/file/write_gram.hpp"

#include "tests/kernel/gram_file_fixture.hpp"

namespace widelimit::test {
namespace {

struct WriteCase {
  std::string network;
  Shape shape;
  Index n1;
  Index n2;
  Index most;  // samples loaded at once
};

/// Compares both blocks of both kernels with gram().
void expect_same_as_in_memory(const WriteCase& c) {
  SCOPED_TRACE(c.network);
  const Network network = Network::parse(c.network);
  const Matrix<double> train = normal_rows(c.n1, c.shape.size(), 1);
  const Matrix<double> test = normal_rows(c.n2, c.shape.size(), 2);
  const SampleView x(train.view(), c.shape);
  const SampleView z(test.view(), c.shape);
  const std::vector<GramBlock> blocks{{"", x, std::nullopt}, {"test_", z, x}};
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "k.h5";
    GramFileOptions options{.kind = Kind::both, .precision = precision};
    options.most_loaded = c.most;
    const GramFileSummary summary = write_gram(path, {&network, 1}, blocks, options, *cpu);
    const GramOptions plain{.kind = Kind::both, .precision = precision};
    const Gram square = gram(network, x, plain, *cpu);
    const Gram rectangle = gram(network, z, x, plain, *cpu);
    expect_written(path, "nngp", square.nngp);
    expect_written(path, "ntk", square.ntk);
    expect_written(path, "test_nngp", rectangle.nngp);
    expect_written(path, "test_ntk", rectangle.ntk);
    EXPECT_EQ(summary.quadrature_error, square.quadrature_error);
    EXPECT_EQ(summary.routes.front(), square.route);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  }
}

TEST(WriteGram, EqualsGramBitForBitInOnePanel) {
  expect_same_as_in_memory({"fc:2", {1, 1, 5}, 37, 3, 0});
  expect_same_as_in_memory({"fc:2", {1, 1, 5}, 1, 1, 0});
  expect_same_as_in_memory({"fc:3(b_std=0.1)", {1, 1, 7}, 700, 2, 0});
  expect_same_as_in_memory({"dense relu dropout(rate=0.8) dense", {1, 1, 3}, 65, 5, 0});
  expect_same_as_in_memory({"conv relu global_avg_pool dense", {3, 4, 2}, 9, 5, 0});
}

TEST(WriteGram, EqualsGramBitForBitInManyPanels) {
  expect_same_as_in_memory({"fc:2(b_std=0.2)", {1, 1, 5}, 1700, 530, 1024});
  expect_same_as_in_memory({"dense tanh dense", {1, 1, 4}, 1030, 3, 1024});
  expect_same_as_in_memory({"conv erf flatten dense", {3, 3, 1}, 37, 6, 12});
}

/// float overflows its safe range at 1e15; the arithmetic chosen for a tile must not depend on the panels.
TEST(WriteGram, ExtremeSamplesDoNotChangeOtherPanels) {
  Matrix<float> x(1600, 3);
  const Random random(5);
  for (Index k = 0; k < 4800; ++k) {
    x.data()[k] = static_cast<float>(random.normal(static_cast<std::uint64_t>(k)) * (k > 4700 ? 1e17 : 1));
  }
  const Network network = Network::parse("fc:1");
  const SampleView view(x.view(), {1, 1, 3});
  const GramBlock block{"", view, std::nullopt};
  const TemporaryFolder folder;
  GramFileOptions options{.precision = Precision::f32};
  options.most_loaded = 1024;
  EXPECT_EQ(write_gram(folder.path() / "k.h5", {&network, 1}, {&block, 1}, options, *cpu).panels, 4);
  expect_written(folder.path() / "k.h5", "ntk", gram(network, view, {.precision = Precision::f32}, *cpu).ntk);
}

TEST(WriteGram, SummaryIsThatOfTheEntries) {
  const Matrix<double> x = normal_rows(600, 3, 4);
  const Network network = Network::parse("fc:2");
  const SampleView view(x.view(), {1, 1, 3});
  const GramBlock block{"", view, std::nullopt};
  const TemporaryFolder folder;
  const auto summary = write_gram(folder.path() / "k.h5", {&network, 1}, {&block, 1}, {}, *cpu);
  const AnyMatrix expected = gram(network, view, {}, *cpu).ntk;
  const auto& k = std::get<Matrix<double>>(expected);
  double sum = 0;
  double trace = 0;
  for (Index i = 0; i < 600; ++i) {
    for (Index j = 0; j < 600; ++j) sum += k(i, j);
    trace += k(i, i);
  }
  ASSERT_EQ(summary.matrices.size(), 1U);
  EXPECT_EQ(summary.matrices[0].entries.smallest, *std::min_element(k.data(), k.data() + 360000));
  EXPECT_EQ(summary.matrices[0].entries.largest, *std::max_element(k.data(), k.data() + 360000));
  // 360,000 additions of the same sign, each with an error of at most half an ulp.
  EXPECT_NEAR(summary.matrices[0].entries.mean * 360000, sum, 1e-10 * sum);
  EXPECT_NEAR(*summary.matrices[0].entries.trace, trace, 1e-12 * trace);
  EXPECT_EQ(summary.pairs, 600 * 601 / 2);
  EXPECT_EQ(summary.pairs_kept, 0);
}

TEST(WriteGram, SeveralNetworksEachInItsGroup) {
  const Matrix<double> x = normal_rows(70, 3, 4);
  const SampleView view(x.view(), {1, 1, 3});
  const GramBlock block{"", view, std::nullopt};
  const std::vector<Network> networks{Network::parse("fc:1"), Network::parse("fc:2(b_std=0.3)")};
  const TemporaryFolder folder;
  const auto path = folder.path() / "k.h5";
  (void)write_gram(path, networks, {&block, 1}, {.kind = Kind::nngp}, *cpu);
  for (std::size_t k = 0; k < 2; ++k) {
    expect_written(path, fmt::format("network{}/nngp", k + 1),
                   gram(networks[k], view, {.kind = Kind::nngp}, *cpu).nngp);
  }
  EXPECT_EQ(GramFile(path, "network1/nngp").names(), (std::vector<std::string>{"network1/nngp", "network2/nngp"}));
  const Error vague = thrown_error([&] { GramFile{path}; });
  EXPECT_NE(std::string(vague.what()).find("network2/nngp"), std::string::npos);
}

TEST(WriteGram, EmptySetsGiveEmptyMatrices) {
  const Matrix<double> x = normal_rows(5, 3, 4);
  const Network network = Network::parse("fc:1");
  const SampleView none(MatrixView<const double>{x.data(), 0, 3, 3}, {1, 1, 3});
  const std::vector<GramBlock> blocks{{"", none, std::nullopt}, {"test_", SampleView(x.view(), {1, 1, 3}), none}};
  const TemporaryFolder folder;
  (void)write_gram(folder.path() / "k.h5", {&network, 1}, blocks, {}, *cpu);
  const GramFile stored(folder.path() / "k.h5", "test_ntk");
  EXPECT_EQ(stored.rows(), 5);
  EXPECT_EQ(stored.cols(), 0);
}

TEST(WriteGram, RefusesWhatGramRefuses) {
  Matrix<double> x = normal_rows(5, 3, 4);
  const Network network = Network::parse("fc:1");
  const TemporaryFolder folder;
  const auto store = [&](const GramBlock& block) {
    return thrown_code([&] { (void)write_gram(folder.path() / "k.h5", {&network, 1}, {&block, 1}, {}, *cpu); });
  };
  const SampleView view(x.view(), {1, 1, 3});
  EXPECT_EQ(store({"", view, SampleView(x.view(), {3, 1, 1})}), Code::input);
  x(4, 1) = 1e200;
  EXPECT_EQ(store({"", view, std::nullopt}), Code::numerical);
  x(4, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(store({"", view, std::nullopt}), Code::input);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace widelimit::test
