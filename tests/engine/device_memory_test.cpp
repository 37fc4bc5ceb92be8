#include "tests/base/normal_rows.hpp"
#include "tests/base/sparse_rows.hpp"
#include "tests/base/thrown.hpp"
#include "tests/engine/engines.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/kernel/file/gram_file.hpp"
#include "widelimit/kernel/file/write_gram.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/report/file.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <thread>

/// Gram matrices larger than the memory of a device.
namespace widelimit::test {
namespace {

constexpr std::size_t megabyte = 1000 * 1000;

struct MemoryCase {
  std::string network;
  Shape shape;
  Index n;
  std::size_t memory;  ///< less than the matrices (erf: the states of all pairs); last case: also less than the samples
};

const std::vector<MemoryCase> cases{
    {"fc:2(b_std=0.2)", {1, 1, 5}, 700, 4 * megabyte},
    {"dense tanh dense", {1, 1, 3}, 333, 2500 * 1000},
    {"dense relu dropout(rate=0.8) dense", {1, 1, 3}, 300, 2 * megabyte},
    {"conv relu conv relu flatten dense", {3, 4, 2}, 170, 800 * 1000},
    {"conv erf conv erf global_avg_pool dense", {4, 4, 1}, 40, megabyte},
    {"fc:2", {1, 1, 500}, 700, 6500 * 1000},
};

/// Stops the work, or runs an action, once `after` pairs are done.
class AtPairs final : public Progress {
 public:
  AtPairs(std::int64_t after, std::function<bool()> act) : after_(after), act_(std::move(act)) {}
  bool update(std::int64_t done, std::int64_t /*total*/, std::string_view unit) override {
    if (unit != "pairs" || done_) return true;
    // Reports come at intervals; waiting for one reports every tile that the calling thread finishes.
    std::this_thread::sleep_for(progress_interval);
    if (done < after_) return true;
    done_ = true;
    return act_();
  }

 private:
  std::int64_t after_;
  std::function<bool()> act_;
  bool done_ = false;
};

void expect_equal(const AnyMatrix& a, const AnyMatrix& b) {
  std::visit(
      [&](const auto& left) {
        const auto& right = std::get<std::decay_t<decltype(left)>>(b);
        ASSERT_EQ(left.rows(), right.rows());
        ASSERT_EQ(left.cols(), right.cols());
        EXPECT_TRUE(std::equal(left.data(), left.data() + left.rows() * left.cols(), right.data()));
      },
      a);
}

void expect_written(const std::filesystem::path& path, const std::string& name, const AnyMatrix& expected) {
  SCOPED_TRACE(name);
  const GramFile stored(path, name);
  expect_equal(stored.read(0, 0, stored.rows(), stored.cols()), expected);
}

class DeviceMemoryTest : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] const DeviceMatrices& device() const { return *device_matrices(*engine_); }
  /// Returns the bytes of the case, or more if the engine pads its samples, as for register kernels: all samples and
  /// three tiles, which is less than the matrices.
  [[nodiscard]] std::size_t memory_for(const Network& network, const SampleView& x, const MemoryCase& c,
                                       Precision precision) const {
    const Recipe recipe = lower(network, c.shape, RecipeOutputs::both);
    const std::size_t samples = usize(c.n) * engine_->kernels().loaded_bytes(recipe, precision, x);
    const std::size_t usual = precision == Precision::f64 ? c.memory : c.memory / 4 * 3;
    return samples > usual ? (samples + samples / 8) / 3 * 4 : usual;
  }
  std::unique_ptr<Engine> engine_ =
      GetParam() == "emulated" ? make_emulated_cuda_engine({}, 3) : engine_named(GetParam());
};

/// Tile by tile, in panels if samples do not fit: bit-identical to the matrix filled at once.
TEST_P(DeviceMemoryTest, TilesHaveTheBitsOfTheWhole) {
  for (const MemoryCase& c : cases) {
    SCOPED_TRACE(c.network);
    const Network network = Network::parse(c.network);
    const Matrix<double> train = normal_rows(c.n, c.shape.size(), 1);
    const Matrix<double> test = normal_rows(c.n / 2, c.shape.size(), 2);
    const SampleView x(train.view(), c.shape);
    const SampleView z(test.view(), c.shape);
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const GramOptions options{.kind = Kind::both, .precision = precision};
      const Gram square = gram(network, x, options, *engine_);
      const Gram rectangle = gram(network, z, x, options, *engine_);
      const DeviceMemoryLimit limit(*engine_, memory_for(network, x, c, precision));
      const Gram cut = gram(network, x, options, *engine_);
      expect_equal(cut.nngp, square.nngp);
      expect_equal(cut.ntk, square.ntk);
      EXPECT_EQ(cut.quadrature_error, square.quadrature_error);
      const Gram cut_rectangle = gram(network, z, x, options, *engine_);
      expect_equal(cut_rectangle.nngp, rectangle.nngp);
      expect_equal(cut_rectangle.ntk, rectangle.ntk);
    }
  }
}

TEST_P(DeviceMemoryTest, FilesHaveTheBitsOfTheWhole) {
  for (const MemoryCase& c : cases) {
    SCOPED_TRACE(c.network);
    const Network network = Network::parse(c.network);
    const Matrix<double> train = normal_rows(c.n, c.shape.size(), 1);
    const SampleView x(train.view(), c.shape);
    const Gram whole = gram(network, x, {.kind = Kind::both}, *engine_);
    const TemporaryFolder folder;
    const GramBlock block{"", x, std::nullopt};
    GramFileOptions options{.kind = Kind::both};
    // Applies to the device only: the host needs more for its threads.
    const DeviceMemoryLimit limit(*engine_, memory_for(network, x, c, Precision::f64));
    const GramFileSummary summary = write_gram(folder.path() / "k.h5", {&network, 1}, {&block, 1}, options, *engine_);
    EXPECT_EQ(summary.panels, c.shape.size() == 500 ? 2 : 1);
    expect_written(folder.path() / "k.h5", "nngp", whole.nngp);
    expect_written(folder.path() / "k.h5", "ntk", whole.ntk);
  }
}

/// Plans of large matrices rest on loaded_bytes: a bound on what samples take, not far above it, for any number of
/// them.
TEST_P(DeviceMemoryTest, LoadedSamplesTakeWhatIsPlanned) {
  for (const MemoryCase& c : cases) {
    const Recipe recipe = lower(Network::parse(c.network), c.shape, RecipeOutputs::both);
    for (const Index n : {1, 37, 300}) {
      const Matrix<double> x = normal_rows(n, c.shape.size(), 1);
      const SampleView samples(x.view(), c.shape);
      for (const Precision precision : {Precision::f32, Precision::f64}) {
        SCOPED_TRACE(fmt::format("{}, n = {}, {}", c.network, n, to_string(precision)));
        const std::size_t before = device().memory_use().taken;
        const auto loaded = engine_->kernels().load(recipe, samples, precision, [](Index) {});
        const std::size_t taken = device().memory_use().taken - before;
        const std::size_t planned = usize(n) * engine_->kernels().loaded_bytes(recipe, precision, samples);
        constexpr std::size_t recipe_bytes = 16 * 1024, temporary_bytes = 512;
        EXPECT_LE(taken, planned + recipe_bytes);
        EXPECT_LE(planned, 4 * taken + usize(n) * temporary_bytes);
      }
    }
  }
}

/// Sparse rows take all their columns on the device: if these do not fit, they are loaded in panels.
TEST_P(DeviceMemoryTest, SparseRowsAreDenseOnTheDevice) {
  const Network network = Network::parse("fc:1");
  const SparseMatrix x = sparse_rows(512, 1000, 0.02, 1);
  const SampleView samples(x.view(), {1, 1, 1000});
  for (const Precision precision : {Precision::f64, Precision::f32}) {
    const Gram whole = gram(network, samples, {.precision = precision}, *engine_);
    const DeviceMemoryLimit limit(*engine_, (precision == Precision::f64 ? 41 : 70) * megabyte / 10);
    expect_equal(gram(network, samples, {.precision = precision}, *engine_).ntk, whole.ntk);
  }
}

/// The device runs out of memory during the run: finished tiles are kept, and the next run resumes.
TEST_P(DeviceMemoryTest, FinishedTilesAreKeptWhereMemoryEnds) {
  // A single thread requests one tile at a time and reports each.
  engine_ = GetParam() == "emulated" ? make_emulated_cuda_engine({}, 1) : make_engine(GetParam(), {.threads = 1});
  const Network network = Network::parse("fc:2");
  const Matrix<double> train = normal_rows(700, 5, 1);
  const SampleView x(train.view(), {1, 1, 5});
  const GramBlock block{"", x, std::nullopt};
  const TemporaryFolder folder;
  const auto path = folder.path() / "k.h5";
  AtPairs progress(50'000, [&] {
    device().add_ceiling(0);
    return true;
  });
  GramFileOptions options;
  options.progress = &progress;
  const Error error = thrown_error([&] { (void)write_gram(path, {&network, 1}, {&block, 1}, options, *engine_); });
  device().remove_ceiling(0);
  EXPECT_EQ(error.code(), Code::resource);
  const std::string message = error.what();
  EXPECT_NE(message.find("cannot allocate"), std::string::npos) << message;
  EXPECT_NE(message.find("resume with the same settings"), std::string::npos) << message;
  options.progress = nullptr;
  options.existing = Existing::resume;
  const GramFileSummary summary = write_gram(path, {&network, 1}, {&block, 1}, options, *engine_);
  EXPECT_GT(summary.pairs_kept, 0);
  expect_written(path, "ntk", gram(network, x, {}, *engine_).ntk);
}

/// The same for an interrupt between two tiles.
TEST_P(DeviceMemoryTest, InterruptedFilesAreResumed) {
  if (GetParam() == "emulated") engine_ = make_emulated_cuda_engine();
  const Network network = Network::parse("conv relu flatten dense");
  const Matrix<double> train = normal_rows(150, 24, 1);
  const SampleView x(train.view(), {3, 4, 2});
  const GramBlock block{"", x, std::nullopt};
  const TemporaryFolder folder;
  const auto path = folder.path() / "k.h5";
  AtPairs progress(2'000, [] { return false; });
  GramFileOptions options;
  options.progress = &progress;
  const Error error = thrown_error([&] { (void)write_gram(path, {&network, 1}, {&block, 1}, options, *engine_); });
  EXPECT_EQ(error.code(), Code::interrupted);
  options.progress = nullptr;
  options.existing = Existing::resume;
  EXPECT_GT(write_gram(path, {&network, 1}, {&block, 1}, options, *engine_).pairs_kept, 0);
  expect_written(path, "ntk", gram(network, x, {}, *engine_).ntk);
}

TEST_P(DeviceMemoryTest, ProgressStopsBetweenTiles) {
  const Network network = Network::parse("fc:2");
  const Matrix<double> train = normal_rows(700, 5, 1);
  const SampleView x(train.view(), {1, 1, 5});
  for (const std::size_t memory : {std::size_t{1} << 40, 4 * megabyte}) {
    const DeviceMemoryLimit limit(*engine_, memory);
    AtPairs progress(1, [] { return false; });
    EXPECT_EQ(thrown_code([&] { (void)gram(network, x, {.progress = &progress}, *engine_); }), Code::interrupted);
  }
  // The device is still usable.
  EXPECT_TRUE(gram(network, x, {}, *engine_).symmetric);
}

/// Throws before any computation, with the numbers behind the decision.
TEST_P(DeviceMemoryTest, SaysWhatTheLeastTakes) {
  const Network network = Network::parse("fc:2");
  const Matrix<double> train = normal_rows(700, 5, 1);
  const SampleView x(train.view(), {1, 1, 5});
  const KernelRequest request{.kernel = network, .memory = 5 * megabyte};
  EXPECT_EQ(compute_kernel(request, x, std::nullopt, *engine_).matrices.size(), 1U);
  const DeviceMemoryLimit limit(*engine_, megabyte);
  const Error error = thrown_error([&] { (void)compute_kernel(request, x, std::nullopt, *engine_); });
  EXPECT_EQ(error.code(), Code::resource);
  const std::string message = error.what();
  EXPECT_NE(message.find("needs at least"), std::string::npos) << message;
  EXPECT_NE(message.find("but 977 KiB of "), std::string::npos) << message;
}

TEST_P(DeviceMemoryTest, BadSamplesAndSmallSets) {
  const Network network = Network::parse("fc:2");
  Matrix<double> train = normal_rows(7, 5, 1);
  train(3, 2) = std::numeric_limits<double>::quiet_NaN();
  const SampleView x(train.view(), {1, 1, 5});
  const Error error = thrown_error([&] { (void)gram(network, x, {}, *engine_); });
  EXPECT_EQ(error.code(), Code::input);
  EXPECT_NE(std::string(error.what()).find('3'), std::string::npos);
  const auto cpu = make_engine("cpu");
  for (const Index n : {0, 1}) {
    const SampleView few = x.part(0, n);
    for (const std::size_t memory : {std::size_t{1} << 40, std::size_t{100'000}}) {
      const DeviceMemoryLimit limit(*engine_, memory);
      const Gram found = gram(network, few, {}, *engine_);
      const Gram expected = gram(network, few, {}, *cpu);
      const auto& left = std::get<Matrix<double>>(found.ntk);
      ASSERT_EQ(left.rows(), n);
      if (n == 0) continue;
      EXPECT_NEAR(left(0, 0), std::get<Matrix<double>>(expected.ntk)(0, 0), 1e-13);
    }
  }
}

/// The products of unit rows, up to 512 MiB, are scratch memory of a fill: a factor can take their place.
TEST_P(DeviceMemoryTest, FilledMatricesLeaveNoScratch) {
  constexpr Index n = 1000;
  const Matrix<double> train = normal_rows(n, 5, 1);
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    const std::size_t before = device().memory_use().taken;
    const GramMatrix k =
        gram_matrix(Network::parse("fc:2"), SampleView(train.view(), {1, 1, 5}), {.precision = precision}, *engine_);
    const std::size_t entry = precision == Precision::f32 ? sizeof(float) : sizeof(double);
    EXPECT_EQ(device().memory_use().taken - before, usize(n * n) * entry);
  }
}

/// Strips of a float32 matrix in float64, and partial sums of precise products, are as large as memory allows.
TEST_P(DeviceMemoryTest, ProductsTakeTheMemoryThatIsLeft) {
  constexpr Index n = 900;
  const Algebra& algebra = engine_->algebra();
  const Matrix<double> k = normal_rows(n, n, 1);
  const Matrix<double> v = normal_rows(n, 16, 2);
  const EngineMatrix twice = algebra.copy_of(k.view());
  const EngineMatrix single = algebra.copy_of(twice, Precision::f32);
  for (const Transpose op : {Transpose::no, Transpose::yes}) {
    Matrix<double> expected(n, 16), found(n, 16);
    algebra.multiply(op, single, v.view(), expected.view());
    const DeviceMemoryLimit limit(*engine_, megabyte);
    algebra.multiply(op, single, v.view(), found.view());
    // Sums of 900 products of normal numbers, in another order.
    for (Index e = 0; e < n * 16; ++e) EXPECT_NEAR(found.data()[e], expected.data()[e], 1e-11);
  }
  Matrix<double> symmetric(n, n), expected(n, 16), found(n, 16);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) symmetric(i, j) = k(std::min(i, j), std::max(i, j));
  }
  const EngineMatrix held = algebra.copy_of(symmetric.view());
  algebra.multiply_precisely(held, v.view(), expected.view(), nullptr);
  const DeviceMemoryLimit limit(*engine_, megabyte);
  algebra.multiply_precisely(held, v.view(), found.view(), nullptr);
  for (Index e = 0; e < n * 16; ++e) EXPECT_EQ(found.data()[e], expected.data()[e]);
}

/// A factor is allocated beside its matrix, so the memory of the device is the limit, not that of the host.
TEST_P(DeviceMemoryTest, FactorsNeedTheMemoryOfTheDevice) {
  const Matrix<double> train = normal_rows(300, 5, 1);
  const Matrix<double> targets = normal_rows(300, 1, 2);
  const GramMatrix k = gram_matrix(Network::parse("fc:2"), SampleView(train.view(), {1, 1, 5}), {}, *engine_);
  const DeviceMemoryLimit limit(*engine_, 600 * 1000);
  const Error error = thrown_error([&] { (void)fit_ridge(k, targets.view(), {.lambda = 0.1}); });
  EXPECT_EQ(error.code(), Code::resource);
  const std::string expected = " needs about 703 KiB, but " + engine_->name() + " has 586 KiB left of ";
  EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
}

INSTANTIATE_TEST_SUITE_P(Engines, DeviceMemoryTest, testing::ValuesIn(engines_and_cuda({"emulated"})),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace widelimit::test
