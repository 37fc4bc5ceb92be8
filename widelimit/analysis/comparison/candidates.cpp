#include "widelimit/analysis/comparison/candidates.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/kernel/classical/classical_grid.hpp"
#include "widelimit/network/network.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Returns every depth with every number of frozen layers, except networks without trained layers.
std::vector<AnyKernel> cuts_of(const Network& network) {
  const Index hidden = std::count_if(network.layers.begin(), network.layers.end(),
                                     [](const Layer& layer) { return std::holds_alternative<Dense>(layer.value); }) -
                       1;
  if (hidden < 1)
    fail(Code::input, "'{}' has no hidden dense layers, so there are no depths to select from", network.to_text());
  std::vector<AnyKernel> cuts;
  for (Index depth = 0; depth <= hidden; ++depth) {
    for (Index frozen = 0; frozen <= depth; ++frozen) {
      Network cut = cut_network(network, depth, frozen);
      if (has_trained_layer(cut.layers)) cuts.emplace_back(std::move(cut));
    }
  }
  return cuts;
}

}  // namespace

std::string kernel_text(const AnyKernel& kernel) {
  return std::visit([](const auto& known) { return known.to_text(); }, kernel);
}

std::vector<Kind> single_kinds(Kind kind) {
  return kind == Kind::both ? std::vector<Kind>{Kind::ntk, Kind::nngp} : std::vector<Kind>{kind};
}

Candidate network_candidate(const std::string& name, Network network, Kind kind, bool family) {
  if (kind == Kind::both) fail(Code::usage, "a machine has one kernel, ntk or nngp");
  require_trained_layer(network, kind);
  return {.name = name + (kind == Kind::nngp ? " nngp" : "") + (family ? " sweep" : ""),
          .kernel = std::move(network),
          .kind = kind,
          .family = family};
}

Candidate network_candidate(const std::string& text, Kind kind, bool family) {
  return network_candidate(text, Network::parse(text), kind, family);
}

Candidate classical_candidate(const std::string& text) {
  return {.name = text, .kernel = ClassicalKernel::parse(text), .family = text.find('(') == std::string::npos};
}

std::vector<Candidate> usual_candidates(const SampleView& x, Kind kind) {
  std::vector<Candidate> usual;
  const auto add = [&](std::initializer_list<const char*> networks) {
    for (const Kind one : single_kinds(kind)) {
      for (const char* text : networks) usual.push_back(network_candidate(text, one));
    }
  };
  if (x.graphs() != nullptr) {
    add({"gntk:2", "gntk:3", "gntk:5"});
    return usual;
  }
  for (const char* text : {"linear", "rbf", "laplace"}) usual.push_back(classical_candidate(text));
  add({"fc:1", "fc:3", "fc:5"});
  if (!x.shape.is_vector()) add({"cntk:3"});
  return usual;
}

std::vector<AnyKernel> kernels_of(const Candidate& candidate, const SampleView& x) {
  if (!candidate.family) return {candidate.kernel};
  if (const auto* network = std::get_if<Network>(&candidate.kernel)) return cuts_of(*network);
  std::vector<AnyKernel> kernels;
  for (const ClassicalKernel& kernel : classical_grid(std::get<ClassicalKernel>(candidate.kernel).name, x)) {
    kernels.emplace_back(kernel);
  }
  return kernels;
}

}  // namespace widelimit
