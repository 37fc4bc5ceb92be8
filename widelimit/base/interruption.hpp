#pragma once

#include "widelimit/base/clock.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace widelimit {

/// Lets `listener` stop whatever this thread does in the library while the object lives, also where no Progress is
/// passed on. Parallel loops and dense algebra have an interruption point between two pieces of their work, and so has
/// every other loop that may take long. Teams of threads hear their calling thread's listener.
///
/// A point asks by 0 of 0, on the thread that made the object, at most once in an `interval`. Once the answer is
/// to stop, every further point throws, too: code that tries another way after an error does not go on for long.
/// Objects nest: the innermost listener is asked, in the time of those around it. Without a listener the object does
/// nothing.
class Interruptible {
 public:
  explicit Interruptible(Progress* listener, std::chrono::milliseconds interval = progress_interval);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  friend void interruption_point();
  void ask();
  [[nodiscard]] bool stopped() const;
  /// The object around this one, where it is of the same thread.
  [[nodiscard]] Interruptible* around() const;

  Progress* listener_;
  Interruptible* outer_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::chrono::milliseconds interval_;
  std::chrono::steady_clock::time_point next_;
  std::atomic<bool> stopped_{false};
};

/// Error{interrupted} where the listener of this thread asks to stop. A few nanoseconds where there is none, else the
/// time of a look at the clock: for pieces of work of a microsecond or more.
void interruption_point();

/// body(0) … body(rows − 1), with an interruption point every 65,536 numbers, for rows of `columns` numbers each: a
/// pass over a large matrix by one thread.
template <typename Body>
void interruptible_rows(Index rows, Index columns, const Body& body) {
  const Index between = std::max<Index>(1, (Index{1} << 16) / std::max<Index>(1, columns));
  for (Index i = 0; i < rows; ++i) {
    if (i % between == 0) interruption_point();
    body(i);
  }
}

/// What stops this thread, or null.
[[nodiscard]] Interruptible* current_interruptible();
/// Lets a member of a team hear what stops the thread that called the team; returns what it heard before.
Interruptible* exchange_interruptible(Interruptible* next);

}  // namespace widelimit
