#pragma once

namespace widelimit {

/// Error{resource} unless this thread can run a team of so many, itself among them. libgomp ends the process where the
/// system refuses a thread (`ulimit -u`, `ulimit -v`), so all of them are started here first, where that is an error.
/// Costs nothing while the team does not grow: libgomp keeps the threads of the last one.
void require_team(int threads);

}  // namespace widelimit
