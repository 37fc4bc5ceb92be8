#pragma once

#include "experiments/tasks/mnist_task.hpp"
#include "widelimit/certificate/statistics.hpp"
#include "widelimit/machine/model.hpp"

namespace widelimit::experiment {

/// Certifies the first `tests` test digits; attacks the first `attacks` of them if options.attack is set.
[[nodiscard]] Certificates certify_digits(const Model& model, const MnistTask& task, Index tests, Index attacks,
                                          const CertifyOptions& options, const Engine& engine);

}  // namespace widelimit::experiment
