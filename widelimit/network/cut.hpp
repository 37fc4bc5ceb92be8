#pragma once

#include "widelimit/network/network.hpp"

namespace widelimit {

/// Returns the first `hidden` hidden layers of a network of dense layers, with the next dense layer as output; 0 gives
/// the linear network. Its first `frozen` dense layers are frozen, in addition to those already frozen. sweep()
/// computes its NTK at (hidden, frozen). Throws Error{usage} if there are fewer layers.
[[nodiscard]] Network cut_network(const Network& network, Index hidden, Index frozen = 0);

}  // namespace widelimit
