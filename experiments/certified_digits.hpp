#pragma once

#include "experiments/mnist_task.hpp"
#include "widelimit/certificate/statistics.hpp"
#include "widelimit/machine/model.hpp"

namespace widelimit::experiment {

/// A machine of two digits as a model: what certificates are of.
[[nodiscard]] Model digit_model(const MnistTask& task, const std::string& network, Machine machine, double lambda,
                                const Fit& fit);

/// Certificates of the first `tests` test digits, the first `attacks` of them attacked where options.attack is there.
[[nodiscard]] Certificates certify_digits(const Model& model, const MnistTask& task, Index tests, Index attacks,
                                          const CertifyOptions& options);

}  // namespace widelimit::experiment
