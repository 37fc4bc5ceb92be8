#pragma once

#include <functional>

namespace widelimit {

/// job(0) on the calling thread and job(1) … job(team − 1) on others, at the same time; returns when all have. Threads
/// are kept for the next call and wait without using the processor, so that a program beside this one takes nothing
/// from it but its share. From within a job it runs job(0) alone: work that is shared already is not shared again.
/// Jobs must not throw. Error{resource} where the system grants fewer threads.
void run_on_team(int team, const std::function<void(int member)>& job);

/// Before every team of several, with its size: reserves what each thread of it will need, or throws. One for the whole
/// program; libraries whose buffers grow with the number of threads that call them are the reason.
void before_teams(void (*reserve)(int team));

/// Whether this thread runs a job of a team of several.
[[nodiscard]] bool inside_team();

}  // namespace widelimit
