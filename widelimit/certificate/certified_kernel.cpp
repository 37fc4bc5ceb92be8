#include "widelimit/certificate/certified_kernel.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <utility>

namespace widelimit {

namespace {

const Network& network_of(const Model& model) {
  const auto* network = std::get_if<Network>(&model.kernel);
  if (network == nullptr) {
    fail(Code::usage, "classical kernels have no certificate; fit a network such as eq2 or fc:2");
  }
  return *network;
}

}  // namespace

CertifiedKernel::CertifiedKernel(const Model& model) : chain(read_chain(network_of(model), model.shape)) {
  const auto biased =
      std::find_if(chain.layers.begin(), chain.layers.end(), [](const ChainLayer& layer) { return layer.b_std != 0; });
  without_last_bias = chain;
  if (chain.layers.size() > 1) last_bias = std::exchange(without_last_bias.layers.back().b_std, 0.0);
  if (biased != chain.layers.end()) {
    why_chain = biased->place + " has a bias";
    return;
  }
  cone.emplace(chain, model.kind);
  if (cone->convex()) return;
  cone.reset();
  why_chain = "rounding hides where the kernel of this network is convex";
}

}  // namespace widelimit
