#pragma once

#include "widelimit/machine/model.hpp"

#include <mutex>
#include <optional>
#include <string>

namespace widelimit {

/// U of K + λ/2·I = UᵀU over the support of a model: computed by the first prediction of its posterior and kept for
/// those that follow, support² doubles as long as the object lives. The model must stay the same meanwhile. Several
/// threads may predict at once: one factors, the others wait for it.
class PosteriorFactor {
 public:
  /// On this engine; factored again where the last one had another name. Error{resource} where there is no room, and
  /// Error{numerical} where there is no factor: then the next call tries again.
  [[nodiscard]] EngineMatrix of(const Model& model, const Engine& engine, const PredictOptions& options);
  /// How often it was computed.
  [[nodiscard]] Index factorisations() const { return factorisations_; }

 private:
  std::timed_mutex guard_;
  std::string engine_;
  std::optional<EngineMatrix> factor_;
  Index factorisations_ = 0;
};

/// predict_posterior that factors the matrix of the support once for many calls.
[[nodiscard]] Posterior predict_posterior(const Model& model, const SampleView& samples, const Engine& engine,
                                          PosteriorFactor& factor, const PredictOptions& options = {});

}  // namespace widelimit
