#include "app/shell/interrupt.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"

#include <unistd.h>

#include <csignal>
#include <ctime>
#include <string_view>

namespace widelimit::app {

namespace {

/// Below one second, the promised response time.
constexpr timespec grace_period{0, 800'000'000};

/// A signal within this time is the same request: `timeout` and terminals signal both the process and its group.
constexpr double repeat_seconds = 0.25;

volatile std::sig_atomic_t received_signal = 0;
timespec first_signal_time{};
timer_t grace_timer{};
volatile std::sig_atomic_t has_timer = 0;

/// The handlers call only async-signal-safe functions.
[[noreturn]] void exit_now() {
  constexpr std::string_view message =
      "widelimit: error: interrupted; complete files are kept, and --resume continues a Gram matrix in an .h5 file\n";
  const ssize_t ignored = ::write(STDERR_FILENO, message.data(), message.size());
  (void)ignored;
  remove_unfinished();
  ::_exit(128 + received_signal);
}

void on_timer(int) { exit_now(); }

void on_signal(int signal) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (received_signal != 0) {
    const double since = static_cast<double>(now.tv_sec - first_signal_time.tv_sec) +
                         1e-9 * static_cast<double>(now.tv_nsec - first_signal_time.tv_nsec);
    if (since > repeat_seconds) exit_now();
    return;
  }
  first_signal_time = now;
  received_signal = signal;
  if (has_timer == 0) return;
  const itimerspec once{{}, grace_period};
  ::timer_settime(grace_timer, 0, &once, nullptr);
}

void install_handler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // interrupted reads and writes restart
  sigemptyset(&action.sa_mask);
  for (const int other : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&action.sa_mask, other);  // no nested handlers
  sigaction(signal, &action, nullptr);
}

bool ignored_before(int signal) {
  struct sigaction before {};
  return sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

}  // namespace

void catch_signals() {
  install_handler(SIGALRM, on_timer);
  struct sigevent event {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  has_timer = ::timer_create(CLOCK_MONOTONIC, &event, &grace_timer) == 0 ? 1 : 0;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (signal != SIGHUP || !ignored_before(signal)) install_handler(signal, on_signal);
  }
}

int stop_signal() { return received_signal; }
bool interrupted() { return received_signal != 0; }

void stop_timer() {
  const itimerspec never{};
  if (has_timer != 0) ::timer_settime(grace_timer, 0, &never, nullptr);
}

void stop_if_interrupted() {
  if (interrupted()) fail(Code::interrupted, "interrupted");
}

}  // namespace widelimit::app
