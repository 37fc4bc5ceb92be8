#pragma once

#include "experiments/tasks/mnist_task.hpp"
#include "widelimit/certificate/statistics.hpp"
#include "widelimit/machine/model.hpp"

namespace widelimit::experiment {

/// Certificates of the first `tests` test digits, the first `attacks` of them attacked where options.attack is there.
[[nodiscard]] Certificates certify_digits(const Model& model, const MnistTask& task, Index tests, Index attacks,
                                          const CertifyOptions& options, const Engine& engine);

}  // namespace widelimit::experiment
