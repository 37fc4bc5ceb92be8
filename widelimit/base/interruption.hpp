#pragma once

#include "widelimit/base/clock.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/base/types.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace widelimit {

/// Lets `listener` stop the library calls of this thread during the lifetime of the object, also in functions that take
/// no Progress. Parallel loops, dense linear algebra and all other long loops contain interruption points. Members of a
/// thread team use the listener of the thread that started the team.
///
/// An interruption point calls listener->update(0, 0, "") on the thread that created the object, at most once per
/// `interval`. After a request to stop, every further point also throws, so that error-recovery code ends soon, too.
/// Objects nest: the innermost listener is polled, on the schedule of the enclosing objects. A null listener has no
/// effect.
class Interruptible {
 public:
  explicit Interruptible(Progress* listener, std::chrono::milliseconds interval = progress_interval);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  friend void interruption_point();
  void poll();
  [[nodiscard]] bool stopped() const;
  /// Enclosing object if it belongs to the same thread, else null.
  [[nodiscard]] Interruptible* enclosing() const;

  Progress* listener_;
  Interruptible* outer_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::chrono::milliseconds interval_;
  std::chrono::steady_clock::time_point next_;
  std::atomic<bool> stopped_{false};
};

/// Throws Error{interrupted} if the listener of this thread requests a stop. Costs a few nanoseconds without a
/// listener, otherwise one clock reading: suitable for work items of at least a microsecond.
void interruption_point();

/// Calls body(0) … body(rows − 1) with an interruption point every 65,536 numbers, for rows of `columns` numbers: a
/// single-threaded pass over a large matrix.
template <typename Body>
void interruptible_rows(Index rows, Index columns, const Body& body) {
  const Index rows_between_points = std::max<Index>(1, (Index{1} << 16) / std::max<Index>(1, columns));
  for (Index i = 0; i < rows; ++i) {
    if (i % rows_between_points == 0) interruption_point();
    body(i);
  }
}

/// Innermost object of this thread, or null.
[[nodiscard]] Interruptible* current_interruptible();
/// Sets the object of a team member to that of the calling thread; returns the previous one.
Interruptible* exchange_interruptible(Interruptible* next);

}  // namespace widelimit
