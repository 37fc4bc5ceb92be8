#include "widelimit/report/drawing/process.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/report/file.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

namespace widelimit {
namespace {

/// Actions of the child between fork and exec.
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

/// Restores default handling of signals that the parent ignores.
class Attributes {
 public:
  Attributes() {
    sigset_t usual;
    sigemptyset(&usual);
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) sigaddset(&usual, signal);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigdefault(&attributes_, &usual);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

bool never() { return false; }
std::atomic<bool (*)()> stop_requested{&never};

/// Returns the wait status of waitpid.
int wait_for(pid_t child, const std::string& name) {
  constexpr std::chrono::milliseconds pause{5};
  int state = 0;
  for (;;) {
    const pid_t ended = ::waitpid(child, &state, WNOHANG);
    if (ended == child) return state;
    if (ended < 0 && errno != EINTR) fail(Code::resource, "cannot wait for {}: {}", name, std::strerror(errno));
    if (stop_requested.load()()) {
      ::kill(child, SIGKILL);
      while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
      }
      fail(Code::interrupted, "stopped while {} ran", name);
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

void stop_programs_when(bool (*stop)()) { stop_requested = stop; }

ProgramEnd run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  ProgramEnd ending;
  const FileActions actions(folder);
  const Attributes attributes;
  pid_t child = 0;
  const int refused = ::posix_spawnp(&child, argv[0], actions.get(), attributes.get(), argv.data(), ::environ);
  if (refused == ENOENT || refused == EACCES) {
    ending.found = false;
    return ending;
  }
  if (refused != 0) fail(Code::resource, "cannot start {}: {}", arguments[0], std::strerror(refused));

  const int state = wait_for(child, arguments[0]);
  if (WIFSIGNALED(state)) ending.signal = WTERMSIG(state);
  if (WIFEXITED(state)) ending.status = WEXITSTATUS(state);
  ending.output = read_back(folder / "output.txt");
  return ending;
}

}  // namespace widelimit
