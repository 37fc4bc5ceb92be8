#include "widelimit/network/cut.hpp"

#include "widelimit/base/error.hpp"

namespace widelimit {

Network cut_network(const Network& network, Index hidden, Index frozen) {
  if (frozen > hidden + 1) {
    fail(Code::usage, "a network of {} hidden layers has {} dense layers and cannot freeze {}", hidden, hidden + 1,
         frozen);
  }
  Network result;
  Index dense_layers = 0;
  for (const Layer& layer : network.layers) {
    result.layers.push_back(layer);
    auto* dense = std::get_if<Dense>(&result.layers.back().value);
    if (dense == nullptr) continue;
    dense->frozen = dense->frozen || dense_layers < frozen;
    if (++dense_layers == hidden + 1) return result;
  }
  fail(Code::usage, "'{}' cannot be cut after {} hidden layers: it has {} dense layers", network.to_text(), hidden,
       dense_layers);
}

}  // namespace widelimit
