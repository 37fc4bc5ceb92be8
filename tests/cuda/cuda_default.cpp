#include "widelimit/engine/select.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace widelimit {

/// Instead of the library's own: every test that names no engine runs on the first NVIDIA device.
const Engine& all_processors() {
  static const std::unique_ptr<Engine> engine = make_engine("cuda:0");
  return *engine;
}

namespace {

EnginePresence cuda() {
  for (const EnginePresence& entry : list_engines()) {
    if (entry.name == "cuda") return entry;
  }
  return {};
}

TEST(Cuda, DeviceIsThere) {
  const EnginePresence presence = cuda();
  if (!presence.present) GTEST_SKIP() << "no test runs on a GPU: " << presence.detail;
  std::printf("%s\n", presence.detail.c_str());
  EXPECT_EQ(all_processors().name(), "cuda:0");
}

}  // namespace
}  // namespace widelimit

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!widelimit::cuda().present) GTEST_FLAG_SET(filter, "Cuda.DeviceIsThere");
  return RUN_ALL_TESTS();
}
