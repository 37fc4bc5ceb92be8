#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/progress.hpp"

#include <nanobind/nanobind.h>

#include <exception>

namespace widelimit::python {

/// Makes long work interruptible by Ctrl-C: each report takes the interpreter lock for a moment and lets Python run its
/// signal handlers, which is where KeyboardInterrupt, or whatever the user's own handler raises, comes from.
class SignalProgress final : public Progress {
 public:
  bool update(std::int64_t, std::int64_t, std::string_view) override {
    const nanobind::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() == 0) return true;
    raised_ = std::make_exception_ptr(nanobind::python_error());
    return false;
  }

  /// Throws what a signal handler raised, if one did.
  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  std::exception_ptr raised_;
};

/// work(progress) without the interpreter lock; signals are heard at interruption points, too.
template <typename Work>
auto unlocked(const Work& work) {
  SignalProgress progress;
  const nanobind::gil_scoped_release unlock;
  const Interruptible interruptible(&progress);
  try {
    auto result = work(static_cast<Progress*>(&progress));
    progress.rethrow();
    return result;
  } catch (const Error& error) {
    if (error.code() == Code::interrupted) progress.rethrow();
    throw;
  }
}

}  // namespace widelimit::python
