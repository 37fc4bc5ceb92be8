#include "tests/base/normal_rows.hpp"
#include "tests/engine/engines.hpp"
#include "widelimit/analysis/spectrum/kernel_spectrum.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/ridge/ridge_path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace widelimit {
namespace {

/// Counts how often the owner is released.
std::shared_ptr<const void> counted(int& released) {
  return {&released, [](const int* count) { ++*const_cast<int*>(count); }};
}

class SharedMatrices : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] const DeviceMatrices& device() const { return *device_matrices(*engine_); }
  [[nodiscard]] EngineMatrix kernel(Index n) const {
    const Matrix<double> x = normal_rows(n, 5, 3);
    return engine_gram(Network::parse("fc:2(b_std=0.1)"), {x.view(), {1, 1, 5}}, std::nullopt, {}, *engine_).ntk;
  }
  [[nodiscard]] Matrix<double> entries(const EngineMatrix& a) const {
    Matrix<double> host(a.rows(), a.cols());
    engine_->algebra().read(a, host.view());
    return host;
  }

  std::unique_ptr<Engine> engine_ = test::engine_named(GetParam());
};

void expect_equal(const Matrix<double>& a, const Matrix<double>& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  EXPECT_TRUE(std::equal(a.data(), a.data() + a.rows() * a.cols(), b.data()));
}

/// The same memory gives bit-identical results, independent of its owner.
TEST_P(SharedMatrices, AdoptedGramSolvesAsItsOriginal) {
  const EngineMatrix own = kernel(37);
  int released = 0;
  {
    const GramMatrix adopted(device().adopt(device().device_view(own), counted(released)), *engine_);
    const GramMatrix original(own, *engine_);
    const Matrix<double> y = normal_rows(37, 2, 5);
    for (const Machine machine : {Machine::ridge, Machine::svr}) {
      const MachineOptions options{.machine = machine, .lambda = 0.3};
      const FittedMachine expected = train_values(original, y.view(), options);
      const FittedMachine found = train_values(adopted, y.view(), options);
      expect_equal(found.fit.alpha, expected.fit.alpha);
    }
    std::vector<Index> labels(37);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = y(static_cast<Index>(i), 0) > 0 ? 1 : 0;
    for (const Machine machine : {Machine::svm, Machine::logistic}) {
      const MachineOptions options{.machine = machine, .lambda = 0.3};
      expect_equal(train_classes(adopted, labels, 2, options).fit.alpha,
                   train_classes(original, labels, 2, options).fit.alpha);
    }
    const std::vector<double> lambdas{0.01, 1};
    expect_equal(ridge_path(adopted, y.view(), lambdas, {}).points.front().fit.alpha,
                 ridge_path(original, y.view(), lambdas, {}).points.front().fit.alpha);
    EXPECT_EQ(KernelSpectrum(adopted, {}).eigenvalues(), KernelSpectrum(original, {}).eigenvalues());
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

/// Rows of a submatrix have a stride larger than their length.
TEST_P(SharedMatrices, RowsMayLieApart) {
  const EngineMatrix own = kernel(40);
  const EngineMatrix block = own.block(3, 3, 21, 21);
  const DeviceView view = device().device_view(block);
  EXPECT_EQ(view.stride, 40);
  int released = 0;
  {
    const EngineMatrix adopted = device().adopt(view, counted(released));
    expect_equal(entries(adopted), entries(block));
    const GramMatrix gram(adopted, *engine_);
    EXPECT_EQ(gram.asymmetry(), 0);
    const Matrix<double> y = normal_rows(21, 1, 5);
    const MachineOptions options{.machine = Machine::ridge, .lambda = 0.3};
    const EngineMatrix copy = engine_->algebra().copy_of(block, Precision::f64);
    expect_equal(train_values(gram, y.view(), options).fit.alpha,
                 train_values({copy, *engine_}, y.view(), options).fit.alpha);
  }
  EXPECT_EQ(released, 1);
}

TEST_P(SharedMatrices, SizesZeroAndOne) {
  int released = 0;
  const EngineMatrix none = device().adopt({nullptr, 0, 0, 0, Precision::f64}, counted(released));
  EXPECT_EQ(none.rows(), 0);
  EXPECT_THROW((void)GramMatrix(none, *engine_).check(), Error);
  const EngineMatrix own = kernel(1);
  DeviceView view = device().device_view(own);
  view.stride = 0;  // any stride is valid for one row
  expect_equal(entries(device().adopt(view, nullptr)), entries(own));
}

TEST_P(SharedMatrices, AreNeverWrittenTo) {
  const EngineMatrix own = kernel(9);
  const Matrix<double> before = entries(own);
  EngineMatrix adopted = device().adopt(device().device_view(own), nullptr);
  const Algebra& algebra = engine_->algebra();
  const auto refused = [](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.code() == Code::usage && std::string(error.what()).find("overwritten") != std::string::npos;
    }
    return false;
  };
  const std::vector<double> shift(9, 1.0);
  EXPECT_TRUE(refused([&] { (void)algebra.cholesky(adopted, nullptr); }));
  EXPECT_TRUE(refused([&] { algebra.copy(own, adopted); }));
  EXPECT_TRUE(refused([&] { algebra.write(before.view(), adopted); }));
  EXPECT_TRUE(refused([&] { algebra.add_to_diagonal(adopted, shift); }));
  EXPECT_TRUE(refused([&] { algebra.scale_rows(adopted, shift); }));
  EXPECT_TRUE(refused([&] { (void)algebra.eigenvalues(adopted, nullptr); }));
  EXPECT_TRUE(refused([&] { (void)algebra.scaled(own, {}, shift, adopted, nullptr); }));
  expect_equal(entries(own), before);
}

TEST_P(SharedMatrices, RefusesWhatItCannotRead) {
  const EngineMatrix own = kernel(4);
  DeviceView view = device().device_view(own);
  view.stride = 3;
  EXPECT_THROW((void)device().adopt(view, nullptr), Error);
  view = device().device_view(own);
  view.data = nullptr;
  int released = 0;
  EXPECT_THROW((void)device().adopt(view, counted(released)), Error);
  EXPECT_EQ(released, 1) << "an owner whose matrix is refused is let go";
}

/// Engines of one device share it; emulated engines are separate devices.
TEST_P(SharedMatrices, EnginesOfOneDeviceShareMatrices) {
  const auto other = test::engine_named(GetParam());
  const EngineMatrix own = kernel(5);
  if (GetParam() == "cuda") {
    EXPECT_EQ(other->algebra().diagonal(own), engine_->algebra().diagonal(own));
  } else {
    EXPECT_THROW((void)other->algebra().diagonal(own), Error);
  }
}

TEST_P(SharedMatrices, CeilingHoldsAndIsTakenBack) {
  const MemoryUse before = device().memory_use();
  {
    const DeviceMemoryLimit limit(*engine_, std::size_t{1} << 20);
    EXPECT_LE(device().memory_use().free, std::size_t{1} << 20);
    {
      const DeviceMemoryLimit inner(*engine_, std::size_t{1} << 30);
      EXPECT_LE(device().memory_use().free, std::size_t{1} << 20) << "a limit inside another one does not lift it";
    }
    EXPECT_LE(device().memory_use().free, std::size_t{1} << 20);
    const EngineMatrix small = engine_->algebra().allocate(100, 100, Precision::f64);
    EXPECT_EQ(device().memory_use().taken, before.taken + small.bytes());
    try {
      (void)engine_->algebra().allocate(1000, 1000, Precision::f64);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::resource);
      const std::string message = error.what();
      EXPECT_NE(message.find("cannot allocate 7.63 MiB"), std::string::npos) << message;
      EXPECT_NE(message.find("of its"), std::string::npos) << message;
      EXPECT_NE(message.find("of which the limit leaves 0.924 MiB"), std::string::npos) << message;
    }
  }
  EXPECT_EQ(device().memory_use().taken, before.taken);
  EXPECT_FALSE(engine_->algebra().allocate(1000, 1000, Precision::f64).empty());
}

TEST_P(SharedMatrices, CeilingsOfThreadsEndInAnyOrder) {
  const std::size_t free = device().memory_use().free;
  auto first = std::make_unique<DeviceMemoryLimit>(*engine_, std::size_t{1} << 20);
  auto second = std::make_unique<DeviceMemoryLimit>(*engine_, std::size_t{1} << 21);
  first.reset();
  EXPECT_LE(device().memory_use().free, std::size_t{1} << 21);
  EXPECT_GT(device().memory_use().free, std::size_t{1} << 20);
  second.reset();
  EXPECT_GT(device().memory_use().free, std::min(free, std::size_t{1} << 21));
}

INSTANTIATE_TEST_SUITE_P(Engines, SharedMatrices, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& test) { return test.param; });

TEST(SharedMatrix, OnlyEnginesWithMemoryOfTheirOwnHaveThem) {
  EXPECT_EQ(device_matrices(*make_engine("cpu")), nullptr);
  EXPECT_EQ(device_matrices(*make_engine("reference")), nullptr);
  const DeviceMemoryLimit limit(*make_engine("cpu"), 1);  // nothing to limit
}

}  // namespace
}  // namespace widelimit
