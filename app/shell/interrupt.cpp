#include "app/shell/interrupt.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/file/unfinished.hpp"

#include <unistd.h>

#include <csignal>
#include <ctime>
#include <string_view>

namespace widelimit::app {

namespace {

/// Below a second, which is what a user waits for.
constexpr timespec patience{0, 800'000'000};

/// A signal that follows sooner is the same request: `timeout` and terminals send one to the process and one to its
/// group.
constexpr double repeat_seconds = 0.25;

volatile std::sig_atomic_t asked = 0;
timespec first_asked{};
timer_t clock_timer{};
volatile std::sig_atomic_t clock_runs = 0;

/// These call nothing but what POSIX allows inside a handler.
[[noreturn]] void end_now() {
  constexpr std::string_view message =
      "widelimit: error: interrupted; what is complete is kept: a Gram matrix in an .h5 file goes on with --resume\n";
  const ssize_t ignored = ::write(STDERR_FILENO, message.data(), message.size());
  (void)ignored;
  remove_unfinished();
  ::_exit(128 + asked);
}

void end_by_clock(int) { end_now(); }

void remember(int signal) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (asked != 0) {
    const double since = static_cast<double>(now.tv_sec - first_asked.tv_sec) +
                         1e-9 * static_cast<double>(now.tv_nsec - first_asked.tv_nsec);
    if (since > repeat_seconds) end_now();
    return;
  }
  first_asked = now;
  asked = signal;
  if (clock_runs == 0) return;
  const itimerspec once{{}, patience};
  ::timer_settime(clock_timer, 0, &once, nullptr);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // reads and writes that it meets go on by themselves
  sigemptyset(&action.sa_mask);
  for (const int other : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&action.sa_mask, other);  // one at a time
  sigaction(signal, &action, nullptr);
}

bool ignored_before(int signal) {
  struct sigaction before {};
  return sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

}  // namespace

void catch_signals() {
  handle(SIGALRM, end_by_clock);
  struct sigevent event {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  clock_runs = ::timer_create(CLOCK_MONOTONIC, &event, &clock_timer) == 0 ? 1 : 0;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (signal != SIGHUP || !ignored_before(signal)) handle(signal, remember);
  }
}

int stop_signal() { return asked; }
bool interrupted() { return asked != 0; }

void stop_clock() {
  const itimerspec never{};
  if (clock_runs != 0) ::timer_settime(clock_timer, 0, &never, nullptr);
}

void stop_if_interrupted() {
  if (interrupted()) fail(Code::interrupted, "interrupted");
}

}  // namespace widelimit::app
