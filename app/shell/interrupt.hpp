#pragma once

namespace widelimit::app {

/// Installs signal handlers. The first SIGINT (Ctrl-C), SIGTERM or SIGHUP requests a stop; if the computation does not
/// check for it in time, e.g. inside a factorisation, a timer ends the program. A second signal ends it immediately.
/// SIGHUP stays ignored if it was ignored (nohup).
void catch_signals();

/// Returns the number of the signal received, 0 if none.
[[nodiscard]] int stop_signal();

[[nodiscard]] bool interrupted();

/// Stops the timer: the computation has ended and reports the interrupt itself.
void stop_timer();

/// Throws Error{interrupted} if a signal was received.
void stop_if_interrupted();

}  // namespace widelimit::app
