#pragma once

namespace widelimit::app {

/// From here on the first Ctrl-C asks the work to stop, the second ends the program at once.
void catch_interrupts();

/// A write beyond the largest size a file may have (ulimit -f) fails as one to a full disk does, and ends nothing.
void ignore_file_size_signal();

[[nodiscard]] bool interrupted();

/// Error{interrupted} between two pieces of work, once Ctrl-C was pressed.
void stop_if_interrupted();

}  // namespace widelimit::app
