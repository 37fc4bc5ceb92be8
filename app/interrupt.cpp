#include "app/interrupt.hpp"

#include "widelimit/base/error.hpp"

#include <csignal>

namespace widelimit::app {

namespace {

volatile std::sig_atomic_t flag = 0;

void remember(int) { flag = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember;
  // The handler is good for one signal; reads and writes it meets go on by themselves.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

void ignore_file_size_signal() { std::signal(SIGXFSZ, SIG_IGN); }

bool interrupted() { return flag != 0; }

void stop_if_interrupted() {
  if (interrupted()) fail(Code::interrupted, "interrupted");
}

}  // namespace widelimit::app
