#include "widelimit/report/process.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/report/file.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace widelimit {
namespace {

/// What the child does between fork and exec.
class FileActions {
 public:
  explicit FileActions(const std::filesystem::path& folder) {
    const std::string output = (folder / "output.txt").string();
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
  }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  ProgramEnd ending;
  const FileActions actions(folder);
  pid_t child = 0;
  const int refused = ::posix_spawnp(&child, argv[0], actions.get(), nullptr, argv.data(), ::environ);
  if (refused == ENOENT || refused == EACCES) {
    ending.found = false;
    return ending;
  }
  if (refused != 0) fail(Code::resource, "cannot start {}: {}", arguments[0], std::strerror(refused));

  int state = 0;
  while (::waitpid(child, &state, 0) < 0)
    if (errno != EINTR) fail(Code::resource, "lost sight of {}: {}", arguments[0], std::strerror(errno));
  if (WIFSIGNALED(state)) ending.signal = WTERMSIG(state);
  if (WIFEXITED(state)) ending.status = WEXITSTATUS(state);
  ending.output = read_back(folder / "output.txt");
  return ending;
}

}  // namespace widelimit
