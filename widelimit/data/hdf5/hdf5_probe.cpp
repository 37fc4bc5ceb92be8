#include "widelimit/data/hdf5/hdf5_probe.hpp"

#include "widelimit/base/error.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <new>
#include <string_view>

namespace widelimit {

namespace {

/// CPU time limits. A small file may expand a thousandfold, at 100 MB/s; a large file is mostly uncompressed. Some
/// damaged files send HDF5 1.10 into an infinite loop, which should be detected quickly for small files.
constexpr std::size_t small_seconds = 2;
constexpr std::size_t small_bytes_per_second = 100'000;
constexpr std::size_t large_seconds = 30;
constexpr std::size_t large_bytes_per_second = 10'000'000;
constexpr std::size_t longest_message = 4000;  // less than a pipe's capacity, so that the child never blocks

/// Silences the child, limits its CPU time and resets the signal handlers.
void limit_child(std::size_t bytes) {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGINT, SIGTERM, SIGHUP}) {
    ::signal(number, SIG_DFL);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const rlim_t seconds =
      std::min(small_seconds + bytes / small_bytes_per_second, large_seconds + bytes / large_bytes_per_second);
  const rlimit time{seconds, seconds};
  ::setrlimit(RLIMIT_CPU, &time);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
}

/// Exits with 0, or with the code of an Error whose message is written to `pipe`. _exit avoids flushing or destroying
/// anything of the parent.
[[noreturn]] void run_child(const std::function<void()>& read, int pipe) {
  try {
    read();
    ::_exit(0);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    const auto put = ::write(pipe, message.data(), std::min(message.size(), longest_message));
    ::_exit(put > 0 ? static_cast<int>(error.code()) : 1);
  } catch (const std::bad_alloc&) {
    ::_exit(static_cast<int>(Code::resource));
  } catch (const std::exception&) {
    ::_exit(1);
  }
}

std::string read_message(int pipe) {
  std::string message;
  std::array<char, 512> buffer;
  for (;;) {
    const ssize_t got = ::read(pipe, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return message;
    message.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

void try_in_child(const std::function<void()>& read, std::size_t bytes, const std::string& source) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  const pid_t child = ::fork();
  if (child == 0) {
    limit_child(bytes);
    run_child(read, ends[1]);
  }
  ::close(ends[1]);
  const std::string message = child > 0 ? read_message(ends[0]) : std::string();
  ::close(ends[0]);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return;
  }
  if (status == 0) return;
  if (WIFEXITED(status) && !message.empty()) throw Error(static_cast<Code>(WEXITSTATUS(status)), message);
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
    fail(Code::interrupted, "stopped while reading {}", source);
  if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(Code::resource)) {
    fail(Code::resource, "{}: there is not enough memory to read it", source);
  }
  fail(Code::input, "{}: the HDF5 file is damaged", source);
}

}  // namespace widelimit
