#pragma once

#include "widelimit/finite/training/train.hpp"

#include <limits>
#include <optional>

namespace widelimit {

/// Kernel used in the closed form of tangent training.
enum class TangentKernel : std::uint8_t {
  full,   ///< all pairs of outputs, nK × nK: exact
  trace,  ///< mean over outputs, used for each output: exact in the infinite-width limit
};
/// Parses "full" or "trace". Throws Error{usage} with the valid names.
[[nodiscard]] TangentKernel parse_tangent_kernel(std::string_view text);
[[nodiscard]] std::string_view to_string(TangentKernel kernel);

struct TangentOptions {
  Index samples = 0;                                      ///< number of leading training samples; 0 means all
  double time = std::numeric_limits<double>::infinity();  ///< flow time in the units of TrainSummary::time
  TangentKernel kernel = TangentKernel::full;
  bool descent = false;  ///< also train the linearised network with the remaining steps of the training

  /// Throws Error{usage} if an option is invalid.
  void validate() const;
};

/// A network linearised at a checkpoint, f(w̃) + J(w̃)(w − w̃), trained on the squared loss by gradient flow: with
/// H = Θ̂(X,X) and u = f(X) at w̃,                                                           [docs/theory/evolution.md]
///   f_t(x) = f(x) − Θ̂(x,X)H⁻¹(I − e^{−2tH})(u − y).
struct TangentTraining {
  Index step = 0;
  Index samples = 0;
  Matrix<double> outputs;       ///< outputs on these samples
  Matrix<double> test_outputs;  ///< no rows without a test set
  double squared_error = 0;     ///< mean over samples and outputs
  std::optional<double> accuracy;
  std::optional<double> test_accuracy;
  /// Number of eigenvalues of H that are 0 up to rounding; residuals in their eigenspace are not reduced.
  Index unlearnt = 0;
  std::optional<double> descent_accuracy;       ///< accuracy of the linearised network after its steps, training
                                                ///< samples
  std::optional<double> descent_test_accuracy;  ///< same on test samples
};

/// Evaluates the closed form at the weights of `network`. O((nK)³) for the full kernel. Throws Error{resource} for
/// insufficient memory and Error{input} for data that do not match.
[[nodiscard]] TangentTraining tangent_training(const TrainedNetwork& network, const TrainData& data,
                                               const TangentOptions& options, const Engine& engine = all_processors(),
                                               Progress* progress = nullptr);

}  // namespace widelimit
