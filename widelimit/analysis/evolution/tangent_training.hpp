#pragma once

#include "widelimit/finite/training/train.hpp"

#include <limits>
#include <optional>

namespace widelimit {

/// Kernel of the closed form of tangent training.
enum class TangentKernel : std::uint8_t {
  full,   ///< of all pairs of outputs, nK × nK: exact
  trace,  ///< the mean over outputs for each of them: exact in the limit of infinite width
};
/// "full", "trace". Error{usage} lists the choices.
[[nodiscard]] TangentKernel parse_tangent_kernel(std::string_view text);
[[nodiscard]] std::string_view to_string(TangentKernel kernel);

struct TangentOptions {
  Index samples = 0;                                      ///< the first so many training samples; 0: all
  double time = std::numeric_limits<double>::infinity();  ///< of the flow, in the units of TrainSummary::time
  TangentKernel kernel = TangentKernel::full;
  bool descent = false;  ///< besides, train the linearised network by the steps that the training has left

  /// Error{usage} names what is wrong.
  void validate() const;
};

/// A network linearised at a checkpoint, f(w̃) + J(w̃)(w − w̃), trained on the squared loss by gradient flow: with
/// H = Θ̂(X,X) and u = f(X) at w̃,                                                           [docs/theory/evolution.md]
///   f_t(x) = f(x) − Θ̂(x,X)H⁻¹(I − e^{−2tH})(u − y).
struct TangentTraining {
  Index step = 0;
  Index samples = 0;
  Matrix<double> outputs;       ///< on these samples
  Matrix<double> test_outputs;  ///< without rows where there is no test set
  double squared_error = 0;     ///< mean over samples and outputs
  std::optional<double> accuracy;
  std::optional<double> test_accuracy;
  /// Eigenvalues of H that are 0 up to rounding: residuals in their directions stay.
  Index unlearnt = 0;
  std::optional<double> descent_accuracy;       ///< of the linearised network after its steps, training samples
  std::optional<double> descent_test_accuracy;  ///< test samples
};

/// The closed form at the weights of `network`. O((nK)³) for the full kernel. Error{resource} where memory does not
/// suffice, Error{input} for data that do not fit.
[[nodiscard]] TangentTraining tangent_training(const TrainedNetwork& network, const TrainData& data,
                                               const TangentOptions& options, const Engine& engine = all_processors(),
                                               Progress* progress = nullptr);

}  // namespace widelimit
