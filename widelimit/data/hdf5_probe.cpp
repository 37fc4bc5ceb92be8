#include "widelimit/data/hdf5_probe.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

namespace widelimit {

namespace {

constexpr std::size_t seconds_always = 30;
constexpr std::size_t bytes_per_second = 10'000'000;

/// The child's life: quiet, bounded, without the parent's handlers, and ended before anything of the parent's is
/// flushed or destroyed.
[[noreturn]] void run_child(const std::function<void()>& read, std::size_t bytes) {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU}) ::signal(number, SIG_DFL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const rlim_t seconds = seconds_always + bytes / bytes_per_second;
  const rlimit time{seconds, seconds};
  ::setrlimit(RLIMIT_CPU, &time);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  try {
    read();
  } catch (const std::exception&) {
    ::_exit(0);
  }
  ::_exit(0);
}

}  // namespace

bool survives(const std::function<void()>& read, std::size_t bytes) {
  const pid_t child = ::fork();
  if (child < 0) return true;
  if (child == 0) run_child(read, bytes);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return true;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace widelimit
