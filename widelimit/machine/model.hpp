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

/// A fitted machine with all data needed for predictions: g(x) = Σᵢ αᵢ K(x, xᵢ) + b over its support, the training
/// samples with nonzero coefficients.
struct Model {
  std::variant<Network, ClassicalKernel> kernel;
  Kind kind = Kind::ntk;                                 ///< for a network: ntk or nngp
  std::optional<LabelAware> label_aware = std::nullopt;  ///< added to the kernel, if present
  Precision precision = Precision::f64;
  Shape shape;                    ///< of one sample
  bool channels_first = false;    ///< layout of images in their source, also expected of new samples
  std::optional<Scaler> scaling;  ///< applied to new samples, if present
  Machine machine = Machine::svm;
  Scheme scheme = Scheme::values;
  std::vector<std::string> classes;  ///< names; empty for regression
  double lambda = 0;
  double epsilon = 0;  ///< support vector regression only
  bool has_bias = false;
  /// For ridge without bias: the support is all training samples, so that K + λ/2·I gives the variance of the Gaussian
  /// process whose posterior mean is g.
  bool posterior = false;
  AnySamples support;                ///< rows after scaling
  Matrix<double> alpha;              ///< support × outputs
  std::vector<double> bias;          ///< one per output
  std::vector<Sigmoid> calibration;  ///< one per output of a calibrated SVM, else empty
  DataOrigin origin;                 ///< how its samples were read and split, if known
  std::string record;                ///< settings of the fit as JSON
  std::string version;               ///< of the program that wrote it

  [[nodiscard]] Index outputs() const { return alpha.cols(); }
  [[nodiscard]] Index supports() const { return alpha.rows(); }
  [[nodiscard]] SampleView support_view() const { return {support, shape}; }
  /// Throws Error{input} for inconsistent, non-finite or unknown values.
  void validate() const;
};

/// Returns a model with kernel, shape, classes, machine and outputs, λ, support and α of a fit. The caller sets
/// precision, scaling and the other members. `posterior` keeps all samples.
[[nodiscard]] Model fitted_model(std::variant<Network, ClassicalKernel> kernel, const Dataset& train,
                                 const FittedMachine& trained, double lambda, bool posterior = false);

/// Sets bias, support and α from a fit to `train`, which must be scaled already. Keeps samples with a nonzero
/// coefficient, or all samples if the model has a posterior.
void set_support(Model& model, const Fit& fit, const SampleView& train);

/// Returns a scaled copy of new samples, sparse if the support is. Throws Error{input} if their shape does not match
/// the model or entries are not finite.
[[nodiscard]] Dataset scaled_samples(const Model& model, const SampleView& samples);

struct PredictOptions {
  std::size_t memory = std::size_t{256} << 20;  ///< memory limit in bytes of a strip of K(test, support)
  std::optional<std::size_t> factor_memory;     ///< memory limit in bytes of K + λ/2·I; default: the available memory
  bool covariance = false;                      ///< posterior only: also the covariance between samples
  /// Pair features that a label-aware kernel was fitted with, by the same names: a model stores only the names.
  const PairFunctions* pair_features = nullptr;
  Progress* progress = nullptr;
};

/// Returns g at new, unscaled samples: test × outputs. Throws Error{input} if their shape does not match the model or
/// entries are not finite, Error{usage} without the pair features that its kernel was fitted with. O(test·support)
/// kernel entries, in strips of test samples.
[[nodiscard]] Matrix<double> predict_decisions(const Model& model, const SampleView& samples, const Engine& engine,
                                               const PredictOptions& options = {});

/// Returns posterior mean and variance, without the noise. Factorises the matrix of the support. Throws Error{usage} if
/// the model has no posterior. O(support³/3 + test·support²), support² doubles; a covariance takes
/// test·(support + test) more and is computed in one piece.
[[nodiscard]] Posterior predict_posterior(const Model& model, const SampleView& samples, const Engine& engine,
                                          const PredictOptions& options = {});

/// Throws Error{input} if the model has a label-aware kernel. `work` ("bounds") names the operation that requires a
/// label-independent kernel, `reason` the reason.
void require_label_free(const Model& model, std::string_view work, std::string_view reason);

}  // namespace widelimit
