#pragma once

#include "widelimit/machine/model.hpp"

#include <mutex>
#include <optional>
#include <string>

namespace widelimit {

/// Cached factor U of K + λ/2·I = UᵀU over the support of a model: computed by the first posterior prediction and
/// reused by later ones; takes support² doubles. The model must not change in the meantime. Thread-safe: one thread
/// factorises while the others wait.
class PosteriorFactor {
 public:
  /// Returns the factor on this engine; refactorises if the engine name differs from the last call. Throws
  /// Error{resource} if it does not fit into memory, Error{numerical} if the matrix is not positive definite; the next
  /// call then tries again.
  [[nodiscard]] EngineMatrix of(const Model& model, const Engine& engine, const PredictOptions& options);
  /// Number of factorisations.
  [[nodiscard]] Index factorisations() const { return factorisations_; }

 private:
  std::timed_mutex guard_;
  std::string engine_;
  std::optional<EngineMatrix> factor_;
  Index factorisations_ = 0;
};

/// Same as predict_posterior, but factorises the matrix of the support once for many calls.
[[nodiscard]] Posterior predict_posterior(const Model& model, const SampleView& samples, const Engine& engine,
                                          PosteriorFactor& factor, const PredictOptions& options = {});

}  // namespace widelimit
