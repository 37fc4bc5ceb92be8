#include "../data/fixture.hpp"
#include "noisy_samples.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/machine/model_file.hpp"

#include <cmath>

namespace widelimit {
namespace {

class ModelPosterior : public Folder {};

/// Fits ridge with a posterior to `train`, which it scales itself.
Model posterior_model(const Dataset& raw, const std::variant<Network, ClassicalKernel>& kernel, const Engine& engine,
                      AnyMatrix& gram_of_train) {
  Model model;
  model.kernel = kernel;
  model.kind = Kind::nngp;
  model.scaling.emplace(Scaling::standard, raw);
  Dataset train = noisy_samples(raw.count(), raw.shape, 1);
  model.scaling->apply(train);
  if (const auto* network = std::get_if<Network>(&kernel)) {
    gram_of_train = gram(*network, train.view(), {.kind = Kind::nngp}, engine).nngp;
  } else {
    gram_of_train =
        classical_gram(std::get<ClassicalKernel>(kernel), train.view(), std::nullopt, Precision::f64, engine);
  }
  Matrix<double> y(raw.count(), 1);
  for (Index i = 0; i < y.rows(); ++i) y(i, 0) = std::sin(static_cast<double>(i));
  y(2, 0) = 0;
  const GaussianProcess process(view_of(gram_of_train), y.view(), {.noise = 0.05});
  model.machine = Machine::ridge;
  model.lambda = 0.1;
  model.posterior = true;
  set_support(model, process.fit(), train.view());
  return model;
}

TEST_F(ModelPosterior, TravelsInTheFileAndIsThatOfTheProcess) {
  const auto engine = make_engine("cpu", {.threads = 1});
  for (const std::variant<Network, ClassicalKernel>& kernel :
       {std::variant<Network, ClassicalKernel>(Network::parse("fc:2")),
        std::variant<Network, ClassicalKernel>(ClassicalKernel::parse("rbf(gamma=0.1)"))}) {
    const Dataset raw = noisy_samples(20, {1, 1, 5}, 1);
    AnyMatrix k;
    const Model model = posterior_model(raw, kernel, *engine, k);
    save_model(path("m.h5"), model);
    const Model loaded = load_model(path("m.h5"));
    EXPECT_TRUE(loaded.posterior);
    const Posterior posterior = predict_posterior(loaded, raw.view(), *engine, {.memory = 700});
    const Matrix<double> mean = predict_decisions(loaded, raw.view(), *engine);
    // At a training sample: K − K(K + σ²I)⁻¹K = σ²(I − σ²(K + σ²I)⁻¹), which is less than the noise.
    for (Index i = 0; i < 20; ++i) {
      EXPECT_NEAR(posterior.mean(i, 0), mean(i, 0), 1e-12);  // different strip lengths
      EXPECT_GT(posterior.variance[static_cast<std::size_t>(i)], 0);
      EXPECT_LT(posterior.variance[static_cast<std::size_t>(i)], 0.05);
    }
    const Posterior joint = predict_posterior(loaded, raw.view(), *engine, {.covariance = true});
    for (Index i = 0; i < 20; ++i) {
      EXPECT_NEAR(joint.mean(i, 0), mean(i, 0), 1e-12);
      EXPECT_NEAR(joint.variance[static_cast<std::size_t>(i)], posterior.variance[static_cast<std::size_t>(i)], 1e-12);
      EXPECT_EQ(joint.covariance(i, i), joint.variance[static_cast<std::size_t>(i)]);
    }
    // At the training samples C = K − K(K + σ²I)⁻¹K = σ²K(K + σ²I)⁻¹, so that C(K + σ²I) = σ²K.
    const auto& gram_entries = std::get<Matrix<double>>(k);
    for (Index i = 0; i < 20; ++i) {
      for (Index j = 0; j < 20; ++j) {
        double product = 0.05 * joint.covariance(i, j);
        for (Index l = 0; l < 20; ++l) product += joint.covariance(i, l) * gram_entries(l, j);
        EXPECT_NEAR(product, 0.05 * gram_entries(i, j), 1e-12);
      }
    }
    EXPECT_THROW((void)predict_posterior(loaded, raw.view(), *engine, {.factor_memory = 100}), Error);
    Model without = load_model(path("m.h5"));
    without.posterior = false;
    EXPECT_THROW((void)predict_posterior(without, raw.view(), *engine), Error);
    without.posterior = true;
    without.has_bias = true;
    EXPECT_THROW(without.validate(), Error);
  }
}

}  // namespace
}  // namespace widelimit
