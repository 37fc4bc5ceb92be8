#pragma once

#include "widelimit/network/network.hpp"

namespace widelimit {

/// The network of the first `hidden` hidden layers of a network of dense layers, with the dense layer after them as its
/// output; 0 is the linear network. Its first `frozen` dense layers are frozen, besides those that are. A sweep has its
/// kernel at (hidden, frozen). Error{usage} where there are fewer layers.
[[nodiscard]] Network cut_network(const Network& network, Index hidden, Index frozen = 0);

}  // namespace widelimit
