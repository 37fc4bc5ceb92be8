// A program outside the tree that includes only widelimit/widelimit.hpp.

#include "widelimit/widelimit.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace {

/// Two classes of points on circles of radius 1 and 2.
widelimit::TrainTest circles() {
  widelimit::Dataset data;
  data.name = "circles";
  data.shape = {1, 1, 2};
  data.class_names = {"inner", "outer"};
  widelimit::Matrix<double> points(60, 2);
  for (widelimit::Index i = 0; i < 60; ++i) {
    const double angle = 0.7 * static_cast<double>(i);
    const double radius = i % 2 == 0 ? 1 : 2;
    points(i, 0) = radius * std::cos(angle);
    points(i, 1) = radius * std::sin(angle);
    data.labels.push_back(i % 2);
  }
  data.values = std::move(points);
  return {.train = std::move(data)};
}

bool near(double a, double b, double allowed) { return std::abs(a - b) <= allowed; }

}  // namespace

int main() {
  using namespace widelimit;
  const auto engine = make_engine("cpu");
  const Network network = Network::parse("fc:3(w_std=1.4142)");
  const TrainTest data = circles();

  // Kernel. Θ(x, x) = (L+1)·w²·(w²/2)^L·‖x‖²/d for ReLU: each of the L+1 weight layers adds the final variance once.
  const Gram gram = widelimit::gram(network, data.train.view(), {.kind = Kind::ntk}, *engine);
  const auto& ntk = std::get<Matrix<double>>(gram.ntk);
  const double w2 = 1.4142 * 1.4142;
  const bool kernel = near(ntk(0, 0), 4 * w2 * std::pow(w2 / 2, 3) / 2, 1e-12) && ntk(0, 1) == ntk(1, 0);

  // Fit.
  FitDataOptions options;
  options.machine = {.machine = Machine::svm, .lambda = 0.01};
  const FittedData fitted = fit_data({.kernel = network}, data, options, *engine);
  const bool fit = fitted.machine.fit.summary.converged();

  // Save and load.
  const auto path = std::filesystem::temp_directory_path() / "widelimit_consumer_model.h5";
  save_model(path, fitted_model(network, data.train, fitted.machine, options.machine.lambda));
  const Model model = load_model(path);
  std::filesystem::remove(path);

  // Predict, score and certify.
  const Matrix<double> g = predict_decisions(model, data.train.view(), *engine);
  const ClassScores scores = class_scores(model.scheme, 2, g.view(), data.train.labels);
  bool same = true;
  for (Index i = 0; i < g.rows(); ++i) same = same && near(g(i, 0), fitted.train(i, 0), 1e-9);
  const Certificates proved = certify(model, data.train.view(), data.train.labels, {});
  double radii = 0;
  for (const double radius : proved.radius) radii += radius;

  std::printf("widelimit %s, %s: %.6f %.6f; mean certified radius %.3g\n", version().data(), network.to_text().c_str(),
              ntk(0, 0), ntk(0, 1), radii / 60);
  const bool right = kernel && fit && same && scores.accuracy() == 1 && scores.auc == 1.0 && radii > 0;
  return right ? 0 : 1;
}
