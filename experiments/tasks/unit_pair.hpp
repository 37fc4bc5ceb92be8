#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/network/network.hpp"

#include <string>

namespace widelimit::experiment {

/// The setting of NT-L's theorems: the first two classes of a set, images of norm 1, and the network
/// f(x) = m^(−1/2) Σ a_r σ(w_r·x) of which the first layer alone is trained. For the ReLU the limit of its kernel is
/// H* = u(π − arccos u)/(2π), u = ⟨x, x'⟩; a ~ N(0, 1), whose square has the mean 1 of the lecture's ±1.
struct UnitPair {
  std::string set;
  TrainTest data;
  Network network;
  AnyMatrix k;         ///< H*, train × train
  AnyMatrix k_test;    ///< test × train; empty where there are no test images
  double seconds = 0;  ///< of the kernels
};

/// `set`: "mnist" or "cifar10". The first `samples` training images of both classes and the first `tests` test images.
/// Error{usage} for another set, Error{input} says where it is looked for.
[[nodiscard]] UnitPair unit_pair(const Setting& setting, const std::string& set, const std::string& activation,
                                 Index samples, Index tests);

/// The option "sets": names between commas.
[[nodiscard]] std::vector<std::string> asked_sets(const Setting& setting);

}  // namespace widelimit::experiment
