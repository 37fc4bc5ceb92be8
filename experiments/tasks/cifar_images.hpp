#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/data/dataset.hpp"
#include "widelimit/data/preparation/scaling.hpp"

#include <vector>

namespace widelimit::experiment {

/// CIFAR-10 in the order of the source, each channel with mean 0 and standard deviation 1 over the training images.
struct CifarImages {
  Dataset train;
  Dataset test;
  Scaler scaling;  ///< applied to both

  [[nodiscard]] Index classes() const { return std::ssize(train.class_names); }
  /// Returns an unscaled test image, with values from 0 to 255.
  [[nodiscard]] std::vector<double> picture(Index test_image) const;
};

/// Loads the first training and test images, or all if there are fewer. Throws Error{input} with the searched locations
/// if CIFAR-10 is missing.
[[nodiscard]] CifarImages cifar_images(const Setting& setting, Index train, Index test);

}  // namespace widelimit::experiment
