#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace widelimit {

/// Result of a program run.
struct ProgramEnd {
  bool found = true;   ///< false: not found on PATH, nothing was run
  int status = 0;      ///< exit status, if it exited
  int signal = 0;      ///< signal that killed it, else 0
  std::string output;  ///< standard output and standard error, combined

  [[nodiscard]] bool succeeded() const { return found && status == 0 && signal == 0; }
};

/// Runs arguments[0], looked up on PATH, in `folder`, without a shell, and waits. Its output is redirected to a file in
/// `folder`, so the program never blocks on a full pipe. If stop_programs_when() requests it, kills the program and
/// throws Error{interrupted}.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

/// Sets the process-wide function that is polled many times a second while a program runs.
void stop_programs_when(bool (*stop)());

}  // namespace widelimit
