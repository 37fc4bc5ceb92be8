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
/// Its output is collected in a file inside `folder`, so a talkative program cannot block.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

}  // namespace widelimit
