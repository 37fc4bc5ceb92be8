#pragma once

#include <functional>

namespace widelimit {

/// Runs job(0) on the calling thread and job(1) … job(team − 1) on others in parallel; returns when all are done.
/// Threads are kept for the next call and wait without using the processor. From within a job it runs job(0) alone:
/// there is no nested parallelism.
/// Jobs must not throw. Error{resource} where the system grants fewer threads.
void run_on_team(int team, const std::function<void(int member)>& job);

/// Registers a function that is called with the size of every team of more than one thread before it starts; it
/// reserves what each thread will need, or throws. One for the whole program; needed for libraries whose buffers grow
/// with the number of calling threads.
void before_teams(void (*reserve)(int team));

/// Whether this thread runs a job of a team of several.
[[nodiscard]] bool inside_team();

}  // namespace widelimit
