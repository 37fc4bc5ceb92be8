#pragma once

#include "tests/cuda/host_device.hpp"
#include "tests/opaque/opaque_engine.hpp"
#include "widelimit/engine/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace widelimit::test {

/// Returns an engine by the name of a test parameter: user-visible names, "opaque", and the emulated CUDA engine.
inline std::unique_ptr<Engine> engine_named(const std::string& name) {
  if (name == "opaque") return make_opaque_engine();
  if (name == "emulated") return make_emulated_cuda_engine();
  return make_engine(name);
}

/// Returns these engine names, and "cuda", the first NVIDIA device, if this machine has one.
inline std::vector<std::string> engines_and_cuda(std::vector<std::string> names) {
  const std::vector<EnginePresence> all = list_engines();
  if (std::ranges::any_of(all, [](const auto& e) { return e.name == "cuda" && e.present; })) names.emplace_back("cuda");
  return names;
}

/// Tests of the engine that the parameter names, beside the cpu.
class BesideCpu : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Engine> engine_ = engine_named(GetParam());
  std::unique_ptr<Engine> cpu_ = make_engine("cpu");
};

}  // namespace widelimit::test
