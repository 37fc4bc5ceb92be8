#pragma once

#include "widelimit/kernel/request.hpp"

#include <string>
#include <variant>
#include <vector>

namespace widelimit {

/// Kernel of a KernelRequest.
using AnyKernel = std::variant<Network, ClassicalKernel>;
[[nodiscard]] std::string kernel_text(const AnyKernel& kernel);

/// One candidate of a comparison: a kernel, or a family from which one kernel is selected.
struct Candidate {
  std::string name;
  AnyKernel kernel;
  Kind kind = Kind::ntk;  ///< for networks
  /// Family: for a classical kernel its classical_grid; for a network every depth with every number of frozen initial
  /// layers.
  bool family = false;
};

/// Returns {ntk, nngp} for Kind::both, else {kind}.
[[nodiscard]] std::vector<Kind> single_kinds(Kind kind);

/// Returns a network candidate; " nngp" is appended to the name for Kind::nngp, and " sweep" for a family. Throws
/// Error{usage} for Kind::both and Error{input} for a network without trainable layers.
[[nodiscard]] Candidate network_candidate(const std::string& name, Network network, Kind kind, bool family = false);
/// Same from a text such as "fc:3", which becomes the name.
[[nodiscard]] Candidate network_candidate(const std::string& text, Kind kind, bool family = false);
/// Parses a classical kernel: "rbf" is a family, "rbf(gamma=0.5)" a single kernel.
[[nodiscard]] Candidate classical_candidate(const std::string& text);

/// Returns the default candidates, simplest first: linear, rbf, laplace, fc:1, fc:3 and fc:5 for vectors; also cntk:3
/// for images; gntk:2, gntk:3 and gntk:5 for graphs. Kind::both lists each network twice.
[[nodiscard]] std::vector<Candidate> usual_candidates(const SampleView& x, Kind kind);

/// Returns the kernels of a candidate on these samples. Throws Error{input} if there are none.
[[nodiscard]] std::vector<AnyKernel> kernels_of(const Candidate& candidate, const SampleView& x);

}  // namespace widelimit
