#include "widelimit/base/team.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/workers.hpp"

#include <chrono>
#include <fstream>
#include <latch>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace widelimit {

namespace {

/// Number of threads of this process as the system reports it; 0 where it does not.
int threads_alive() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Threads:")) return std::stoi(line.substr(8));
  }
  return 0;
}

/// Starts that many threads, which live at the same time, and ends them. Returns how many there were.
int start_and_end(int wanted) {
  std::latch all(1);
  std::vector<std::thread> started;
  try {
    while (static_cast<int>(started.size()) < wanted) started.emplace_back([&all] { all.wait(); });
  } catch (const std::exception&) {  // refused, or no memory to note it in
  }
  all.count_down();
  for (std::thread& thread : started) thread.join();
  return static_cast<int>(started.size());
}

/// The system counts a thread for a moment after it was joined, and would refuse its successor.
void wait_until_gone(int alive_before) {
  using namespace std::chrono_literals;
  for (int round = 0; round < 100 && threads_alive() > alive_before; ++round) std::this_thread::sleep_for(100us);
}

}  // namespace

void require_team(int threads) {
  static thread_local int last = 1;
  if (threads <= last || inside_team()) {
    if (!inside_team()) last = threads;
    return;
  }
  const int alive = threads_alive();
  const int started = start_and_end(threads - 1);
  if (started < threads - 1) {
    fail(Code::resource,
         "the system grants {} threads of {}; take fewer, or raise the limits of this process (ulimit -u, ulimit -v)",
         started + 1, threads);
  }
  wait_until_gone(alive);
  last = threads;
}

}  // namespace widelimit
