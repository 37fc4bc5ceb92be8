#include "widelimit/base/interruption.hpp"

#include "stopping.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace widelimit {
namespace {

using std::chrono::milliseconds;

template <typename Work>
void expect_interrupted(const Work& work) {
  try {
    work();
    FAIL() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::interrupted);
  }
}

TEST(Interruption, NothingHappensWithoutAListener) {
  interruption_point();
  const Interruptible without_listener(nullptr);
  EXPECT_EQ(current_interruptible(), nullptr);
  interruption_point();
}

TEST(Interruption, EveryPointAfterAStopThrows) {
  StopAt second(2);
  {
    const Interruptible interruptible(&second, milliseconds(0));
    interruption_point();
    expect_interrupted([] { interruption_point(); });
    expect_interrupted([] { interruption_point(); });
  }
  EXPECT_EQ(second.updates, 2) << "once stopped, it is not asked again";
  interruption_point();
}

TEST(Interruption, PointsAskSeldom) {
  StopAt never;
  const Interruptible interruptible(&never, std::chrono::hours(1));
  for (int i = 0; i < 1000; ++i) interruption_point();
  EXPECT_EQ(never.updates, 0);
}

/// Short calls, each with its own object, must not postpone the poll indefinitely.
TEST(Interruption, InnerObjectsAskInTheTimeOfTheOuterOne) {
  StopAt outer_listener;
  StopAt listener(3);
  const Interruptible outer(&outer_listener, milliseconds(0));
  const auto call = [&] {
    const Interruptible inner(&listener);
    interruption_point();
  };
  call();
  call();
  expect_interrupted(call);
  EXPECT_EQ(listener.updates, 3);
  interruption_point();  // the outer object is not stopped
  EXPECT_EQ(outer_listener.updates, 1);
}

TEST(Interruption, ALoopOfOneThreadAsksAfterEveryTask) {
  StopAt eleventh(11);
  const Interruptible interruptible(&eleventh, milliseconds(0));
  std::vector<Index> ran;
  expect_interrupted([&] { parallel_for(1000, 1, [&](Index task) { ran.push_back(task); }); });
  EXPECT_EQ(ran.size(), 11U);
}

/// The other team members stop within their own, longer tasks.
TEST(Interruption, AllMembersOfATeamStop) {
  for (const int threads : {2, 5}) {
    StopAt tenth(10);
    const Interruptible interruptible(&tenth, milliseconds(0));
    std::atomic<Index> rounds{0};
    expect_interrupted([&] {
      parallel_for(threads, threads, [&](Index) { parallel_for(Index{1} << 40, threads, [&](Index) { ++rounds; }); });
    });
    EXPECT_GE(rounds, 9);
  }
}

TEST(Interruption, ACallingThreadThatWaitsIsAsked) {
  StopAt second(2);
  const Interruptible interruptible(&second, milliseconds(0));
  const auto calling = std::this_thread::get_id();
  std::atomic<bool> other_works{false};
  expect_interrupted([&] {
    parallel_for(2, 2, [&](Index) {
      if (std::this_thread::get_id() == calling) {
        while (!other_works) std::this_thread::yield();
        return;
      }
      other_works = true;
      while (true) interruption_point();
    });
  });
}

TEST(Interruption, WorkersForgetTheListener) {
  {
    StopAt never;
    const Interruptible interruptible(&never, milliseconds(0));
    parallel_for(64, 2, [](Index) {});
  }
  parallel_for(64, 2, [](Index) { EXPECT_EQ(current_interruptible(), nullptr); });
}

TEST(Interruption, PassesOverRowsHavePointsByTheirNumbers) {
  const auto updates_of = [](Index rows, Index columns) {
    StopAt never;
    const Interruptible interruptible(&never, milliseconds(0));
    Index visited = 0;
    interruptible_rows(rows, columns, [&](Index i) { EXPECT_EQ(i, visited++); });
    EXPECT_EQ(visited, rows);
    return never.updates;
  };
  EXPECT_EQ(updates_of(0, 5), 0);
  EXPECT_EQ(updates_of(1, 0), 1);
  EXPECT_EQ(updates_of(37, 1 << 20), 37);
  EXPECT_EQ(updates_of(1 << 17, 1), 2);
}

}  // namespace
}  // namespace widelimit
