#pragma once

namespace widelimit::app {

/// From here on the first SIGINT (Ctrl-C), SIGTERM or SIGHUP asks the work to stop. Work that does not hear of it soon,
/// as inside a factorisation, is ended by the clock; a second signal ends the program at once. SIGHUP stays
/// ignored where it was (nohup).
void catch_signals();

/// The signal that asked, 0 where none did.
[[nodiscard]] int stop_signal();

[[nodiscard]] bool interrupted();

/// The work has stopped and reports it itself.
void stop_clock();

/// Error{interrupted} between two pieces of work, once a signal asked to stop.
void stop_if_interrupted();

}  // namespace widelimit::app
