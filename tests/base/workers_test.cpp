#include "widelimit/base/workers.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace widelimit {
namespace {

TEST(Workers, RunEveryMemberAtTheSameTime) {
  for (const int team : {1, 2, 5}) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(team));
    std::latch all(team);  // deadlocks if members run one after another
    run_on_team(team, [&](int member) {
      EXPECT_EQ(inside_team(), team > 1);
      all.arrive_and_wait();
      ++runs[static_cast<std::size_t>(member)];
    });
    for (const auto& times : runs) EXPECT_EQ(times, 1);
    EXPECT_FALSE(inside_team());
  }
}

TEST(Workers, ATeamWithinATeamIsItsFirstMember) {
  std::atomic<int> runs{0};
  run_on_team(3, [&](int) { run_on_team(3, [&](int member) { runs += member == 0 ? 1 : 100; }); });
  EXPECT_EQ(runs, 3);
}

TEST(Workers, ServeSeveralCallersAtOnce) {
  std::atomic<int> runs{0};
  std::vector<std::thread> callers;
  for (int k = 0; k < 4; ++k) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) run_on_team(3, [&](int) { ++runs; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(runs, 4 * 50 * 3);
}

/// A forked child has only the forking thread; teams must not wait for the others.
TEST(Workers, BeginAnewInAChild) {
  run_on_team(4, [](int) {});
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    std::atomic<int> runs{0};
    run_on_team(4, [&](int) { ++runs; });
    ::_exit(runs == 4 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace widelimit
