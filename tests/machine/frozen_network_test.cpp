#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/machine/fit_data.hpp"
#include "widelimit/machine/ridge/marginal_likelihood.hpp"
#include "widelimit/machine/ridge/ridge_network.hpp"

#include "noisy_samples.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace widelimit {
namespace {

/// A machine with the zero kernel would predict a constant.
TEST(FrozenNetwork, WithoutTrainedLayerFitsNoMachine) {
  const Dataset data = noisy_samples(9, {1, 1, 3}, 5);
  const Matrix<double> y(9, 1);
  const FitTargets targets{.labels = {}, .values = y.view()};
  const Network frozen = Network::parse("fc:1(frozen=2)");
  const auto expect_refused = [](const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::input);
      EXPECT_NE(std::string(error.what()).find("NTK is 0"), std::string::npos) << error.what();
    }
  };
  const Engine& engine = all_processors();
  FitDataOptions options;
  options.machine.machine = Machine::ridge;
  options.machine.lambda = 0.1;
  const KernelRequest request{.kernel = frozen, .method = Method::exact};
  for (const Solver solver : {Solver::dense, Solver::conjugate_gradients}) {
    options.solver = solver;
    expect_refused([&] { (void)fit_samples(request, data.view(), targets, options, engine); });
  }
  expect_refused([&] { (void)fit_ridge(frozen, data.view(), y.view(), {}, engine); });
  expect_refused([&] { (void)marginal_likelihood(frozen, data.view(), y.view(), {.kind = Kind::ntk}, engine); });
  const KernelRequest prior{.kernel = frozen, .kind = Kind::nngp, .method = Method::exact};
  EXPECT_EQ(fit_samples(prior, data.view(), targets, options, engine).train.rows(), 9);
}

}  // namespace
}  // namespace widelimit
