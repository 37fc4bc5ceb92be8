#include "tests/engine/engines.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace widelimit {

/// Replaces the library's default: every test that names no engine runs on the first NVIDIA device, or on the engine
/// named by WIDELIMIT_TEST_ENGINE ("emulated": the CUDA engine on an emulated device).
const Engine& all_processors() {
  const char* named = std::getenv("WIDELIMIT_TEST_ENGINE");
  static const std::unique_ptr<Engine> engine = test::engine_named(named != nullptr ? named : "cuda:0");
  return *engine;
}

namespace {

EnginePresence of_cuda() {
  for (const EnginePresence& entry : list_engines()) {
    if (entry.name == "cuda") return entry;
  }
  return {};
}

TEST(Cuda, DeviceIsThere) {
  const EnginePresence presence = of_cuda();
  if (!presence.present) GTEST_SKIP() << "no test runs on a GPU: " << presence.detail;
  std::printf("%s\n", presence.detail.c_str());
}

}  // namespace
}  // namespace widelimit

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Tests of other engines have their own program; ranges on the host belong to the CPU. `Soundness` calls the CPU a
  // million times, so it is excluded; `SoundnessOn` runs on the device. `ArccosineKernel` and what follows
  // it are tests of kernels that name the CPU or no engine. A filter with exclusions is left unchanged.
  if (const std::string filter = GTEST_FLAG_GET(filter); filter.find('-') == std::string::npos) {
    GTEST_FLAG_SET(filter, filter +
                               "-*cpu*:*reference*:*opaque*:*emulated*:Planes*:GraphDigits*:GraphThreads*:GraphLimit*:"
                               "Quadrature*:NearParallel*:LoadedBytes*:BlasLibrary*:Ranges*:Soundness.*:"
                               "ArccosineKernel*:Classical*:Cut.*:Entries.*:ExtremesOf*:Fifty/*:GramPart*:Hadamard*:"
                               "LabelAwareFile*:LabelAwareInput*:LabelAwareKernel*:PairFeatures*:Panels.*:Resume*:"
                               "SparseClassical*:SparseFile*:SparseGram*:WriteGram*");
  }
  const bool named = std::getenv("WIDELIMIT_TEST_ENGINE") != nullptr;
  if (!named && !widelimit::of_cuda().present) GTEST_FLAG_SET(filter, "Cuda.DeviceIsThere");
  return RUN_ALL_TESTS();
}
