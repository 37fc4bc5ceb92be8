#pragma once

#include "widelimit/data/dataset.hpp"
#include "widelimit/data/origin.hpp"
#include "widelimit/data/preparation/scaling.hpp"
#include "widelimit/kernel/classical/classical.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace widelimit {

/// A fitted machine with everything that predictions on new samples need: g(x) = Σᵢ αᵢ K(x, xᵢ) + b over its support,
/// the training samples with non-zero coefficients.
struct Model {
  std::variant<Network, ClassicalKernel> kernel;
  Kind kind = Kind::ntk;                                 ///< of a network: ntk or nngp
  std::optional<LabelAware> label_aware = std::nullopt;  ///< added to the kernel, where present
  Precision precision = Precision::f64;
  Shape shape;                    ///< of a sample
  bool channels_first = false;    ///< samples came channel by channel in their source; new ones are laid out the same
  std::optional<Scaler> scaling;  ///< applied to new samples first, where present
  Machine machine = Machine::svm;
  Scheme scheme = Scheme::values;
  std::vector<std::string> classes;  ///< names; empty for regression
  double lambda = 0;
  double epsilon = 0;  ///< of support vector regression
  bool has_bias = false;
  /// For ridge without a bias: the support is all training samples, so that K + λ/2·I gives the variance of the
  /// Gaussian process whose posterior mean is the machine.
  bool posterior = false;
  AnySamples support;                ///< rows after scaling
  Matrix<double> alpha;              ///< support × outputs
  std::vector<double> bias;          ///< one per output
  std::vector<Sigmoid> calibration;  ///< of a support vector machine's outputs, one each, or none
  DataOrigin origin;                 ///< how its samples were read and split, where that is known
  std::string record;                ///< settings of the fit, JSON text
  std::string version;               ///< of the program that made it

  [[nodiscard]] Index outputs() const { return alpha.cols(); }
  [[nodiscard]] Index supports() const { return alpha.rows(); }
  [[nodiscard]] SampleView support_view() const { return {support, shape}; }
  /// Error{input} for inconsistent, non-finite or unknown values.
  void validate() const;
};

/// A model with kernel, shape, classes, machine and outputs, λ, support and α of a fit. The caller adds precision,
/// scaling and other settings. `posterior` keeps all samples.
[[nodiscard]] Model fitted_model(std::variant<Network, ClassicalKernel> kernel, const Dataset& train,
                                 const FittedMachine& trained, double lambda, bool posterior = false);

/// Takes bias, and support and α where a coefficient is not 0, from a fit to `train`, which is scaled already; all
/// samples where the model has a posterior.
void set_support(Model& model, const Fit& fit, const SampleView& train);

/// A scaled copy of new samples, sparse where the support is. Error{input} where they have another shape than the
/// model's, or entries that are not finite.
[[nodiscard]] Dataset scaled_samples(const Model& model, const SampleView& samples);

struct PredictOptions {
  std::size_t memory = std::size_t{256} << 20;  ///< bytes a strip of K(test, support) may take
  std::optional<std::size_t> factor_memory;     ///< bytes that K + λ/2·I may take; default: the available memory
  bool covariance = false;                      ///< of a posterior: the covariance between samples, too
  /// Those that a label-aware kernel was fitted with, by the same names: a model remembers the names alone.
  const PairFunctions* pair_features = nullptr;
  Progress* progress = nullptr;
};

/// g on new samples, not scaled yet: test × outputs. Error{input} where they have another shape than the model's, or
/// entries that are not finite, Error{usage} without the pair features that its kernel was fitted with.
/// O(test·support) kernel entries, in strips of test samples.
[[nodiscard]] Matrix<double> predict_decisions(const Model& model, const SampleView& samples, const Engine& engine,
                                               const PredictOptions& options = {});

/// Posterior mean and variance of a model with a posterior, without the noise. Factors the matrix of the support.
/// Error{usage} where the model has no posterior.  O(support³/3 + test·support²), support² doubles; a covariance takes
/// test·(support + test) more, all at once.
[[nodiscard]] Posterior predict_posterior(const Model& model, const SampleView& samples, const Engine& engine,
                                          const PredictOptions& options = {});

}  // namespace widelimit
