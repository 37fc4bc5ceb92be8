#include "widelimit/base/parallel.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/progress.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

namespace widelimit {
namespace {

TEST(Parallel, EveryTaskOnce) {
  for (const Index count : {0, 1, 2, 37, 1000}) {
    for (const int threads : {1, 2, 7}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      parallel_for(count, threads, [&](Index task) { ++runs[static_cast<std::size_t>(task)]; });
      for (const auto& times : runs) EXPECT_EQ(times, 1);
    }
  }
}

TEST(Parallel, TheLowestFailureIsTheOneThatLeaves) {
  for (const int threads : {1, 2, 7}) {
    try {
      parallel_for(1000, threads, [&](Index task) {
        if (task >= 11) fail(Code::input, "task {}", task);
      });
      FAIL() << "nothing thrown";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "task 11");
    }
  }
}

struct Listener : Progress {
  std::thread::id thread;
  std::int64_t last = -1;
  int calls = 0;
  bool go_on = true;
  bool update(std::int64_t done, std::int64_t, std::string_view) override {
    thread = std::this_thread::get_id();
    last = done;
    ++calls;
    return go_on;
  }
};

TEST(Parallel, ProgressSpeaksOnTheCallingThreadAndSeldom) {
  Listener listener;
  ProgressTicker ticker(&listener, 100000, "tasks");
  parallel_for(
      100000, 2, [](Index) {}, [&](Index done) { ticker.at(done); });
  EXPECT_EQ(listener.thread, std::this_thread::get_id());
  EXPECT_EQ(listener.last, 100000);
  EXPECT_LT(listener.calls, 1000);
}

TEST(Parallel, ProgressStopsTheWork) {
  Listener listener;
  listener.go_on = false;
  ProgressTicker ticker(&listener, 50, "tasks");
  try {
    parallel_for(
        50, 2, [](Index) {}, [&](Index done) { ticker.at(done); });
    FAIL() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::interrupted);
  }
}

/// The calling thread finishes a short task and waits; a long task of another thread is still stopped.
TEST(Parallel, StopsATaskOfAnotherThreadFromWithin) {
  struct Later : Progress {
    int calls = 0;
    bool update(std::int64_t, std::int64_t, std::string_view) override { return ++calls < 3; }
  } listener;
  SharedProgress shared(&listener, 2, "tasks");
  const auto owner = std::this_thread::get_id();
  std::atomic<int> began{0};
  const auto start = std::chrono::steady_clock::now();
  const auto body = [&](Index) {
    ++began;
    while (began < 2) std::this_thread::yield();  // one task each
    if (std::this_thread::get_id() == owner) return;
    while (std::chrono::steady_clock::now() - start < std::chrono::seconds(30)) {
      if (!shared.get()->update(0, 1, "steps")) fail(Code::interrupted, "stopped within");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  EXPECT_THROW(parallel_for(2, 2, body, [&](Index done) { shared.at(done); }), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(SharedProgress(nullptr, 1, "tasks").get(), nullptr);
}

TEST(Parallel, TeamSize) {
  EXPECT_GE(team_size(0), 1);
  EXPECT_EQ(team_size(3), 3);
  EXPECT_THROW((void)team_size(-1), Error);
}

}  // namespace
}  // namespace widelimit
