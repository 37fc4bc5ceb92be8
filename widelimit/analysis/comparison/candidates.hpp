#pragma once

#include "widelimit/kernel/request.hpp"

#include <string>
#include <variant>
#include <vector>

namespace widelimit {

/// As KernelRequest has it.
using AnyKernel = std::variant<Network, ClassicalKernel>;
[[nodiscard]] std::string kernel_text(const AnyKernel& kernel);

/// A kernel of a comparison, or a family of kernels among which a choice is made.
struct Candidate {
  std::string name;
  AnyKernel kernel;
  Kind kind = Kind::ntk;  ///< of a network
  /// Every kernel of the name of a classical one (classical_grid); every depth of a network, with every number of
  /// frozen layers from the first on.
  bool family = false;
};

/// ntk and nngp for both, else the one.
[[nodiscard]] std::vector<Kind> single_kinds(Kind kind);

/// The name ends in " nngp" with Kind::nngp, in " sweep" where it is a family. Error{usage} for Kind::both,
/// Error{input} for a network that has nothing to learn.
[[nodiscard]] Candidate network_candidate(const std::string& name, Network network, Kind kind, bool family = false);
/// The same by its text, which is its name: "fc:3".
[[nodiscard]] Candidate network_candidate(const std::string& text, Kind kind, bool family = false);
/// "rbf", a family; "rbf(gamma=0.5)", with arguments, is that kernel.
[[nodiscard]] Candidate classical_candidate(const std::string& text);

/// What to compare where nothing is asked for, by the kind of samples: linear, rbf, laplace, fc:1, fc:3 and fc:5 on
/// vectors, these and cntk:3 on images, gntk:2, gntk:3 and gntk:5 on graphs. The simplest come first. Kind::both has
/// each network twice.
[[nodiscard]] std::vector<Candidate> usual_candidates(const SampleView& x, Kind kind);

/// The kernels that a candidate stands for on these samples. Error{input} where it has none.
[[nodiscard]] std::vector<AnyKernel> kernels_of(const Candidate& candidate, const SampleView& x);

}  // namespace widelimit
