#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/progress.hpp"

#include <nanobind/nanobind.h>

#include <exception>

namespace widelimit::python {

/// Makes long work interruptible by Ctrl-C: each report acquires the interpreter lock and runs the signal handlers of
/// Python, which raise KeyboardInterrupt, or the exception of the user's own handler.
class SignalProgress final : public Progress {
 public:
  bool update(std::int64_t, std::int64_t, std::string_view) override {
    const nanobind::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() == 0) return true;
    raised_ = std::make_exception_ptr(nanobind::python_error());
    return false;
  }

  /// Rethrows the exception of a signal handler, if any.
  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  std::exception_ptr raised_;
};

/// Runs work(progress) without the interpreter lock; also handles signals at interruption points.
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
