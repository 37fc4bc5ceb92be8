#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace widelimit {

/// How a program ended.
struct ProgramEnd {
  bool found = true;   ///< false: no such program on PATH, nothing ran
  int status = 0;      ///< exit status, when it exited
  int signal = 0;      ///< what killed it, else 0
  std::string output;  ///< standard output and standard error together

  [[nodiscard]] bool succeeded() const { return found && status == 0 && signal == 0; }
};

/// Runs arguments[0], looked up on PATH, in `folder` and waits. No shell takes part: arguments arrive as they are.
/// Its output is collected in a file inside `folder`, so a talkative program cannot block. Error{interrupted}, with the
/// program ended, where stop_programs_when() says so.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

/// Asks `stop` many times a second while a program runs. One for the whole process, as a keyboard is.
void stop_programs_when(bool (*stop)());

}  // namespace widelimit
