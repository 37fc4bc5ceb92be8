#pragma once

#include "widelimit/certificate/chain/chain_enclosure.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/machine/model.hpp"

#include <optional>
#include <string>

namespace widelimit {

/// A model's kernel as certificates see it.
struct CertifiedKernel {
  Chain chain;
  std::optional<ConeKernel> cone;  ///< where the chain has one that is proved convex
  std::string why_chain;           ///< else why there is none
  Chain without_last_bias;         ///< the same with a last layer that adds no constant,
  double last_bias = 0;            ///< which is the square of this

  /// Error{usage} where the network has no certificate at all.
  explicit CertifiedKernel(const Model& model);
  /// The coordinate that a bias of the first layer adds to every sample, rounded up.
  [[nodiscard]] double lift() const { return cone ? 0 : lifted_coordinate(chain).high; }
};

}  // namespace widelimit
