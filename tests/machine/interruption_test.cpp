#include "widelimit/base/interruption.hpp"

#include "noisy_samples.hpp"
#include "tests/base/stopping.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/tangent/ntk_product.hpp"
#include "widelimit/kernel/monte_carlo.hpp"
#include "widelimit/machine/posterior_factor.hpp"
#include "widelimit/machine/ridge/ridge_network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace widelimit {
namespace {

using std::chrono::milliseconds;

/// A computation on one thread and its minimum number of interruption points, one per block.
struct Stoppable {
  std::string name;
  int points;
  std::function<std::vector<double>()> run;
};

std::vector<double> numbers(const Matrix<double>& m) { return {m.data(), m.data() + m.rows() * m.cols()}; }
std::vector<double> numbers(const AnyMatrix& m) { return numbers(std::get<Matrix<double>>(m)); }

const Engine& one_thread() {
  static const auto engine = make_engine("cpu", {.threads = 1});
  return *engine;
}

const Dataset& samples() {
  static const Dataset data = noisy_samples(600, {1, 1, 9}, 1);
  return data;
}

const Matrix<double>& gram_of_samples() {
  static const AnyMatrix k = gram(Network::parse("fc:1"), samples().view(), {}, one_thread()).ntk;
  return std::get<Matrix<double>>(k);
}

const Matrix<double>& targets() {
  static const Matrix<double> y = [] {
    Matrix<double> t(600, 1);
    for (Index i = 0; i < 600; ++i) t(i, 0) = std::sin(static_cast<double>(i));
    return t;
  }();
  return y;
}

std::vector<double> drawn_weights() {
  const auto architecture = Architecture::make(Network::parse("fc:2"), {1, 1, 9}, {.hidden = 1100});
  const auto drawn = draw_parameters<double>(architecture, 5, one_thread());
  return {drawn.slots[1].w.begin(), drawn.slots[1].w.begin() + 100};
}

std::vector<double> tangent_product() {
  const auto architecture = Architecture::make(Network::parse("fc:2"), {1, 1, 9}, {.hidden = 512});
  const auto weights = draw_parameters<double>(architecture, 5, one_thread());
  const auto x = read_samples<double>(samples().view(), architecture.input);
  Tensor<double> v(x.count(), architecture.output);
  for (Index i = 0; i < v.count(); ++i) v.sample(i)[0] = static_cast<double>(i % 7) - 3;
  const auto product = ntk_product(architecture, weights, x, x, v, one_thread());
  return {product.values().begin(), product.values().end()};
}

std::vector<double> host_product() {
  const Matrix<double>& k = gram_of_samples();
  Matrix<double> c(600, 600);
  one_thread().algebra().host_product(1, Transpose::no, k.view(), Transpose::no, k.view(), 0, c.view());
  return numbers(c);
}

std::vector<double> inertia() {
  const Algebra& algebra = one_thread().algebra();
  const Inertia found = algebra.inertia(algebra.copy_of(gram_of_samples().view()));
  return {static_cast<double>(found.negative), static_cast<double>(found.zero), static_cast<double>(found.positive)};
}

/// Created outside the interrupted code.
const GaussianProcess& process() {
  static const GaussianProcess found({gram_of_samples().view(), one_thread()}, targets().view(), {.noise = 0.1});
  return found;
}

std::vector<double> posterior() {
  const std::vector<double> own(600, 40.0);
  return process().posterior(gram_of_samples().view(), own).variance;
}

std::vector<double> joint_posterior() {
  return numbers(process().joint_posterior(gram_of_samples().view(), gram_of_samples().view()).covariance);
}

Model posterior_model() {
  Model model;
  model.kernel = Network::parse("fc:1");
  model.shape = samples().shape;
  model.machine = Machine::ridge;
  model.lambda = 0.2;
  model.posterior = true;
  set_support(model, process().fit(), samples().view());
  return model;
}

std::vector<double> model_posterior() {
  static const Model model = posterior_model();
  return predict_posterior(model, samples().view(), one_thread()).variance;
}

std::vector<double> decisions() {
  const Fit fit{.alpha = Matrix<double>(600, 2), .bias = {1, 2}, .summary = {}};
  return numbers(decision(fit, gram_of_samples().view(), one_thread()));
}

std::vector<double> products() {
  const RidgeNetworkOptions options{.solver = {.lambda = 1}};
  return numbers(
      fit_ridge(Network::parse("fc:1"), samples().view(), targets().view(), options, one_thread()).fit.alpha);
}

std::vector<double> scaled() {
  Dataset data = noisy_samples(20000, {1, 1, 40}, 2);
  const Scaler scaler(Scaling::standard, data);
  scaler.apply(data);
  return numbers(std::get<Matrix<double>>(data.values));
}

std::vector<double> monte_carlo() {
  const MonteCarloOptions options{.width = 1100, .draws = 2};
  const SampleView few = samples().view().part(0, 3);
  return numbers(monte_carlo_gram(Network::parse("fc:2"), few, few, options, one_thread()).ntk);
}

/// 600 samples are 3 × 3 tiles of algebra; 600 columns of a product and of LDLᵀ ten parts of 64.
std::vector<Stoppable> all_work() {
  const Network network = Network::parse("fc:2");
  return {
      {"weights of a layer", 18, drawn_weights},
      {"product of host matrices", 10, host_product},
      {"product with the tangent kernel", 20, tangent_product},
      {"random networks", 36, monte_carlo},
      {"sweep", 100, [=] { return numbers(sweep(network, samples().view(), {}, one_thread()).values); }},
      {"contributions of layers", 40,
       [=] { return numbers(layer_contributions(network, samples().view(), {}, one_thread()).ntk[1]); }},
      {"inertia", 10, inertia},
      {"posterior", 9, posterior},
      {"covariance of a posterior", 15, joint_posterior},
      {"posterior of a model", 15, model_posterior},
      {"decisions", 3, decisions},
      {"ridge by products", 9, products},
      {"scaling", 36, scaled},
  };
}

TEST(InterruptedWork, AsksBetweenBlocksAndStopsWhereverItIsTold) {
  (void)process();
  for (const Stoppable& work : all_work()) {
    SCOPED_TRACE(work.name);
    const std::vector<double> expected = work.run();
    StopAt never;
    {
      const Interruptible interruptible(&never, milliseconds(0));
      EXPECT_EQ(work.run(), expected);
    }
    EXPECT_GE(never.updates, work.points);
    for (const int last : {1, never.updates / 2 + 1, never.updates}) {
      StopAt listener(last);
      const Interruptible interruptible(&listener, milliseconds(0));
      try {
        (void)work.run();
        ADD_FAILURE() << "not interrupted at point " << last;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::interrupted) << error.what();
      }
      EXPECT_EQ(listener.updates, last);
    }
    EXPECT_EQ(work.run(), expected) << "after an interruption";
  }
}

TEST(InterruptedWork, AFactorThatWasStoppedIsComputedTheNextTime) {
  const Model model = posterior_model();
  const std::vector<double> expected = predict_posterior(model, samples().view(), one_thread()).variance;
  PosteriorFactor factor;
  {
    StopAt first(1);
    const Interruptible interruptible(&first, milliseconds(0));
    EXPECT_THROW((void)predict_posterior(model, samples().view(), one_thread(), factor), Error);
  }
  EXPECT_EQ(factor.factorisations(), 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(predict_posterior(model, samples().view(), one_thread(), factor).variance, expected);
    EXPECT_EQ(factor.factorisations(), 1);
  }
}

}  // namespace
}  // namespace widelimit
