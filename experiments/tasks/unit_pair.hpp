#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/network/network.hpp"

#include <string>

namespace widelimit::experiment {

/// The setting of the theorems of NT-L: the first two classes of a data set, images of norm 1, and the network
/// f(x) = m^(−1/2) Σ a_r σ(w_r·x) with only the first layer trained. For ReLU the limit kernel is
/// H* = u(π − arccos u)/(2π), u = ⟨x, x'⟩; a ~ N(0, 1) has E a² = 1, like the ±1 of the lecture.
struct UnitPair {
  std::string set;
  TrainTest data;
  Network network;
  AnyMatrix k;         ///< H*, train × train
  AnyMatrix k_test;    ///< test × train; empty without test images
  double seconds = 0;  ///< time of the kernels
};

/// Loads the first `samples` training images of both classes and the first `tests` test images of `set`, "mnist" or
/// "cifar10". Throws Error{usage} for another set, Error{input} with the searched locations if it is missing.
[[nodiscard]] UnitPair unit_pair(const Setting& setting, const std::string& set, const std::string& activation,
                                 Index samples, Index tests);

/// Parses the option "sets", comma-separated names.
[[nodiscard]] std::vector<std::string> requested_sets(const Setting& setting);

}  // namespace widelimit::experiment
