#pragma once

#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <nanobind/nanobind.h>

namespace widelimit::python {

/// Options by name: method, target, ratio, psd, distortion, seed.
[[nodiscard]] LabelAwareOptions label_aware_options(const nanobind::dict& given);

/// Pair features that Python computes: None, or (call, names), where call(left, right) of two blocks of samples gives
/// an array features × left × right of float64. Made and destroyed with the interpreter lock, called without it.
class CalledFeatures {
 public:
  explicit CalledFeatures(const nanobind::object& given);
  CalledFeatures(const CalledFeatures&) = delete;
  CalledFeatures& operator=(const CalledFeatures&) = delete;
  /// Null where there are none.
  [[nodiscard]] const PairFunctions* get() const { return functions_.count() > 0 ? &functions_ : nullptr; }

 private:
  nanobind::object call_;
  PairFunctions functions_;
};

[[nodiscard]] LabelAware copy_of(const LabelAware& aware);

}  // namespace widelimit::python
