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
  Scaler scaling;  ///< what both went through

  [[nodiscard]] Index classes() const { return std::ssize(train.class_names); }
  /// A test image as it was read: numbers from 0 to 255.
  [[nodiscard]] std::vector<double> picture(Index test_image) const;
};

/// The first training and test images, all where there are fewer. Error{input} says where CIFAR-10 is looked for.
[[nodiscard]] CifarImages cifar_images(const Setting& setting, Index train, Index test);

}  // namespace widelimit::experiment
