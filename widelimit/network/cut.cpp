#include "widelimit/network/cut.hpp"

#include "widelimit/base/error.hpp"

namespace widelimit {

Network cut_network(const Network& network, Index hidden) {
  Network result;
  Index dense_layers = 0;
  for (const Layer& layer : network.layers) {
    result.layers.push_back(layer);
    dense_layers += std::holds_alternative<Dense>(layer.value) ? 1 : 0;
    if (dense_layers == hidden + 1) return result;
  }
  fail(Code::usage, "'{}' cannot be cut after {} hidden layers: it has {} dense layers", network.to_text(), hidden,
       dense_layers);
}

}  // namespace widelimit
