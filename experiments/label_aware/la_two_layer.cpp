#include "experiments/label_aware/la_two_layer.hpp"

#include "experiments/label_aware/la_cnn.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/training/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::experiment {

namespace {

std::vector<double> diagonal_of(const Matrix<float>& k) {
  std::vector<double> diagonal;
  for (Index i = 0; i < k.rows(); ++i) diagonal.push_back(k(i, i));
  return diagonal;
}

/// Computes the empirical NTK of given weights on the probe images.
class Probe {
 public:
  Probe(const Setting& setting, const LaImages& images, Index probe)
      : setting_(setting),
        images_(images),
        train_(read_samples<float>(images.train.view().part(0, std::min(probe, images.train.count())),
                                   images.train.shape)),
        test_(
            read_samples<float>(images.test.view().part(0, std::min(probe, images.test.count())), images.test.shape)) {}

  [[nodiscard]] ProbeKernels at(Index epoch, const Architecture& architecture, const Parameters<float>& weights) const {
    const auto kernel = [&](const Tensor<float>& a, const Tensor<float>& b) {
      return empirical_ntk(architecture, weights, a, b, {.progress = setting_.progress}, setting_.engine);
    };
    return {.epoch = epoch,
            .k = kernel(train_, train_),
            .k_test = kernel(test_, train_),
            .test_diagonal = diagonal_of(kernel(test_, test_)),
            .labels = std::span(images_.train.labels).first(usize(train_.count())),
            .test_labels = std::span(images_.test.labels).first(usize(test_.count()))};
  }

 private:
  const Setting& setting_;
  const LaImages& images_;
  Tensor<float> train_;
  Tensor<float> test_;
};

}  // namespace

TwoLayerOptions requested_two_layer_options(const Setting& setting) {
  return {.width = setting.count("width", 1), .epochs = setting.count("epochs", 1), .probe = setting.count("probe", 4)};
}

double ProbeKernels::train_elasticity() const { return local_elasticity(AnyView(k.view()), labels).ratio; }

double ProbeKernels::test_elasticity() const {
  return local_elasticity(AnyView(k_test.view()), test_labels, test_diagonal, labels, diagonal_of(k)).ratio;
}

void along_training(const Setting& setting, const LaImages& images, const TwoLayerOptions& options,
                    std::span<const Index> epochs, const std::function<void(const ProbeKernels&)>& callback) {
  const Probe probe(setting, images, options.probe);
  TrainOptions how = la_training(setting, options.epochs, images.train.count());
  how.width = options.width;
  const Index steps = images.train.count() / how.batch;  // per epoch
  const auto is_recorded = [&](Index epoch) { return std::find(epochs.begin(), epochs.end(), epoch) != epochs.end(); };
  how.observer = [&](const TrainStep& step) {
    if (step.step % steps != 0 || !is_recorded(step.step / steps)) return;
    callback(probe.at(step.step / steps, *step.architecture, *std::get<const Parameters<float>*>(step.parameters)));
  };
  Matrix<double> targets(images.train.count(), 1);
  for (Index i = 0; i < targets.rows(); ++i) targets(i, 0) = static_cast<double>(images.train.labels[usize(i)]);
  const Network network = Network::parse(
      fmt::format("dense relu scale(by={:.17g}) dense", 1 / std::sqrt(static_cast<double>(options.width))));
  const TrainedNetwork trained = train(network, {images.train.view(), targets.view()}, how, setting.engine);
  if (!trained.summary.finished()) fail(Code::numerical, "{}", trained.summary.message);
  if (is_recorded(options.epochs)) {
    callback(probe.at(options.epochs, trained.architecture, std::get<Parameters<float>>(trained.parameters)));
  }
}

}  // namespace widelimit::experiment
