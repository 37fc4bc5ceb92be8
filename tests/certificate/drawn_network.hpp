#pragma once

#include "widelimit/finite/forward.hpp"
#include "widelimit/finite/training/trained_network.hpp"

#include <string>
#include <utility>

namespace widelimit::test {

struct DrawnOptions {
  Index width = 16;
  Index outputs = 1;
  std::uint64_t seed = 1;
  Precision precision = Precision::f64;
  Parameterisation parameterisation = Parameterisation::ntk;
  bool centred = false;
};

/// A network with random weights; its initial weights are another draw.
inline TrainedNetwork drawn_network(const std::string& text, const Shape& shape, const DrawnOptions& options = {}) {
  TrainedNetwork drawn;
  drawn.network = Network::parse(text);
  drawn.shape = shape;
  drawn.widths = {.hidden = options.width, .outputs = options.outputs, .parameterisation = options.parameterisation};
  drawn.seed = options.seed;
  drawn.centred = options.centred;
  drawn.architecture = Architecture::make(drawn.network, shape, drawn.widths);
  if (options.precision == Precision::f32) {
    drawn.parameters = draw_parameters<float>(drawn.architecture, options.seed);
    drawn.start = draw_parameters<float>(drawn.architecture, options.seed + 1000);
  } else {
    drawn.parameters = draw_parameters<double>(drawn.architecture, options.seed);
    drawn.start = draw_parameters<double>(drawn.architecture, options.seed + 1000);
  }
  return drawn;
}

/// The predicted class: the sign of one output, or the largest of several.
inline Index predicted_class(const double* f, Index outputs) {
  if (outputs == 1) return f[0] > 0 ? 1 : 0;
  return std::max_element(f, f + outputs) - f;
}

/// Predictions of the network on the samples.
inline std::vector<Index> predicted_classes(const TrainedNetwork& network, const SampleView& x) {
  const Matrix<double> f = predict_outputs(network, x);
  std::vector<Index> labels;
  for (Index i = 0; i < f.rows(); ++i) labels.push_back(predicted_class(f.view().row(i), f.cols()));
  return labels;
}

}  // namespace widelimit::test
