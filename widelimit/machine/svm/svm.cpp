#include "widelimit/machine/svm/svm.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"
#include "widelimit/machine/svm/svm_path.hpp"

#include <cmath>

namespace widelimit {

void SvmOptions::validate() const {
  check_lambdas({&lambda, 1});
  if (!(tolerance > 0) || !(tolerance < 1)) fail(Code::input, "tolerance = {}; it must be between 0 and 1", tolerance);
  if (max_iterations < 0) fail(Code::input, "max_iterations = {} is negative", max_iterations);
}

std::vector<Fit> svm_path(const GramMatrix& k, std::span<const double> labels, std::span<const double> lambdas,
                          const SvmOptions& options, SvmLoss loss) {
  options.validate();
  check_lambdas(lambdas);
  const Index n = std::ssize(labels);
  check_box_input(k, n);
  check_signs(labels);
  check_weights(options.weights, n);
  if (loss != SvmLoss::hard) check_bounds(lambdas, options.weights);
  const auto begin = Clock::now();
  if (options.check_definite && !is_semidefinite(k, options.progress)) {
    return indefinite_fits(k, n, 1, lambdas.size(), seconds_since(begin), options.progress);
  }
  const BinaryProblem problem{{}, {labels.begin(), labels.end()}, {options.weights.begin(), options.weights.end()}};
  const SvmPath path = solve_svm_path(k, problem, lambdas, loss, options, options.progress);
  std::vector<Summary> summaries = svm_summaries(path, lambdas, loss);
  const double taken = seconds_since(begin);
  std::vector<Fit> fits(lambdas.size());
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    fits[l].alpha = Matrix<double>(n, 1);
    std::copy(path.at(l).a.begin(), path.at(l).a.end(), fits[l].alpha.data());
    fits[l].bias = {path.at(l).bias};
    fits[l].summary = std::move(summaries[l]);
    fits[l].summary.seconds = taken / static_cast<double>(lambdas.size());
  }
  name_diagonal_shift(k, fits, options.progress);
  return fits;
}

Fit fit_svm(const GramMatrix& k, std::span<const double> labels, const SvmOptions& options) {
  return std::move(svm_path(k, labels, {&options.lambda, 1}, options, SvmLoss::hinge).front());
}

Fit fit_svm2(const GramMatrix& k, std::span<const double> labels, const SvmOptions& options) {
  return std::move(svm_path(k, labels, {&options.lambda, 1}, options, SvmLoss::squared_hinge).front());
}

Fit fit_hard_svm(const GramMatrix& k, std::span<const double> labels, const SvmOptions& options) {
  return std::move(svm_path(k, labels, {&options.lambda, 1}, options, SvmLoss::hard).front());
}

}  // namespace widelimit
