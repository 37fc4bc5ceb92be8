#pragma once

#include <functional>

namespace widelimit {

/// Runs job(0) on the calling thread and job(1) … job(team − 1) on other threads in parallel; returns when all have
/// finished. Threads are pooled and sleep between calls. Within a job, only job(0) runs: there is no nested
/// parallelism. Jobs must not throw. Throws Error{resource} if the system provides fewer threads.
void run_on_team(int team, const std::function<void(int member)>& job);

/// Registers a function that is called with the size of each team of more than one thread before the team starts; it
/// reserves per-thread resources or throws. One function per program; required for libraries whose buffers grow with
/// the number of calling threads.
void before_teams(void (*reserve)(int team));

/// Returns whether this thread is running a job of a team of several threads.
[[nodiscard]] bool inside_team();

}  // namespace widelimit
