#pragma once

#include "widelimit/data/dataset.hpp"
#include "widelimit/data/scaling.hpp"
#include "widelimit/kernel/classical/classical.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace widelimit {

/// A fitted machine with all that predictions on new samples need: g(x) = Σᵢ αᵢ K(x, xᵢ) + b over its support, the
/// training samples with a coefficient other than 0.
struct Model {
  std::variant<Network, ClassicalKernel> kernel;
  Kind kind = Kind::ntk;  ///< of a network: ntk or nngp
  Precision precision = Precision::f64;
  Shape shape;                    ///< of a sample
  std::optional<Scaler> scaling;  ///< what new samples go through first; none: nothing
  Machine machine = Machine::svm;
  Scheme scheme = Scheme::values;
  std::vector<std::string> classes;  ///< names; empty where outputs are numbers
  double lambda = 0;
  double epsilon = 0;  ///< of support vector regression
  bool has_bias = false;
  /// Of ridge without a bias: the support is all training samples, so that K + λ/2·I gives the variance of the Gaussian
  /// process whose mean the machine is.
  bool posterior = false;
  AnyMatrix support;                 ///< rows as the kernel sees them: scaled
  Matrix<double> alpha;              ///< support × outputs
  std::vector<double> bias;          ///< one per output
  std::vector<Sigmoid> calibration;  ///< of a support vector machine's outputs, one each, or none
  std::string record;                ///< settings of the fit, JSON text
  std::string version;               ///< of the program that made it

  [[nodiscard]] Index outputs() const { return alpha.cols(); }
  [[nodiscard]] Index supports() const { return alpha.rows(); }
  [[nodiscard]] SampleView support_view() const { return {support, shape}; }
  /// Error{input} names what does not agree, is not finite or not known.
  void validate() const;
};

/// What every fit leaves: kernel, shape, classes where there are any, machine and its outputs, λ, support and α.
/// Precision, scaling and what else a fit may have had are the caller's to add; a posterior is asked for first, since
/// it keeps all samples.
[[nodiscard]] Model fitted_model(std::variant<Network, ClassicalKernel> kernel, const Dataset& train,
                                 const Trained& trained, double lambda, bool posterior = false);

/// Takes bias, and support and α where a coefficient is not 0, from a fit to `train`, which is scaled already; all
/// samples where the model has a posterior.
void set_support(Model& model, const Fit& fit, const SampleView& train);

/// New samples as the kernel sees them: a copy, scaled. Error{input} where they have another shape than the model's, or
/// entries that are not finite.
[[nodiscard]] Dataset scaled_samples(const Model& model, const SampleView& samples);

struct PredictOptions {
  std::size_t memory = std::size_t{256} << 20;  ///< bytes a strip of K(test, support) may take
  std::optional<std::size_t> factor_memory;     ///< bytes that K + λ/2·I may take; none: what is available
  int threads = 0;                              ///< of its factorisation
  Progress* progress = nullptr;
};

/// g on new samples, not scaled yet: test × outputs. Error{input} where they have another shape than the model's, or
/// entries that are not finite.  O(test·support) kernel entries, in strips of test samples.
[[nodiscard]] Matrix<double> predict_decisions(const Model& model, const SampleView& samples, const Backend& backend,
                                               const PredictOptions& options = {});

/// Mean and variance of the Gaussian process that a model with a posterior is, noise not added. The factor is made anew
/// from the support. Error{usage} where the model has none.  O(support³/3 + test·support²), support² doubles.
[[nodiscard]] Posterior predict_posterior(const Model& model, const SampleView& samples, const Backend& backend,
                                          const PredictOptions& options = {});

}  // namespace widelimit
