#pragma once

#include "experiments/tasks/cifar_images.hpp"
#include "experiments/tasks/image_predictions.hpp"
#include "experiments/tasks/task_kernel.hpp"

#include <span>

namespace widelimit::experiment {

/// The machines of one kernel.
struct CntkMachines {
  ImagePredictions regression;  ///< ridgeless, targets 0.9 for the class and −0.1 for the others, as published
  ImagePredictions ridge;       ///< the same targets, λ by exact leave-one-out
  ImagePredictions svm;         ///< one-vs-one, λ by five folds
};

/// Returns the targets of Arora et al. 2019: 0.9 for the class of a sample, −0.1 for the others.
[[nodiscard]] Matrix<double> cntk_targets(std::span<const Index> labels, Index classes);

/// Fits all three to the first `train` images and scores them on the first `test` images of a kernel, which may be
/// larger. λ is selected among multiples of the mean diagonal, on at most 2,000 training images.
[[nodiscard]] CntkMachines cntk_machines(const Setting& setting, const CifarImages& images, const TaskKernel& kernel,
                                         Index train, Index test);

}  // namespace widelimit::experiment
