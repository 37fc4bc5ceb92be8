#pragma once

#include "experiments/label_aware/la_images.hpp"
#include "widelimit/analysis/local_elasticity.hpp"
#include "widelimit/finite/training/trained_network.hpp"

#include <functional>
#include <span>
#include <vector>

namespace widelimit::experiment {

/// The network of LA Table 3 and Figure 1, f(x) = m^{−1/2} Σ_r a_r relu(w_r·x), x with a constant 1 appended: standard
/// parameterisation, PyTorch initialisation, squared loss on 0 and 1, Adam with rate 3·10⁻⁴ and batches of 128.
struct TwoLayerOptions {
  Index width = 0;
  Index epochs = 0;
  Index probe = 0;  ///< maximal number of training and of test images for kernels
};
/// Parses the options "width", "epochs" and "probe".
[[nodiscard]] TwoLayerOptions requested_two_layer_options(const Setting& setting);

/// The empirical NTK of a network on the first images.
struct ProbeKernels {
  Index epoch = 0;
  Matrix<float> k;                    ///< train × train
  Matrix<float> k_test;               ///< test × train
  std::vector<double> test_diagonal;  ///< K(x,x) of the test images
  std::span<const Index> labels;
  std::span<const Index> test_labels;

  /// Return LA (9) over pairs of training images, and over pairs of a test and a training image.
  [[nodiscard]] double train_elasticity() const;
  [[nodiscard]] double test_elasticity() const;
};

/// Trains the network and calls `callback` with the kernels before training (epoch 0) and after the given epochs, in
/// order. Throws Error{numerical} if training fails.
void along_training(const Setting& setting, const LaImages& images, const TwoLayerOptions& options,
                    std::span<const Index> epochs, const std::function<void(const ProbeKernels&)>& callback);

}  // namespace widelimit::experiment
