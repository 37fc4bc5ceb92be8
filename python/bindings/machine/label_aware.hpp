#pragma once

#include "python/bindings/base/arrays.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <nanobind/nanobind.h>

namespace widelimit::python {

/// Converts the options method, target, ratio, psd, distortion and seed. Throws Error if one is invalid.
[[nodiscard]] LabelAwareOptions label_aware_options(const nanobind::dict& given);

/// Pair features computed by Python: None, or (call, names), where call(left, right) of two blocks of samples returns
/// a float64 array features × left × right. Constructed and destroyed with the interpreter lock, called without it.
class PythonPairFeatures {
 public:
  explicit PythonPairFeatures(const nanobind::object& given);
  PythonPairFeatures(const PythonPairFeatures&) = delete;
  PythonPairFeatures& operator=(const PythonPairFeatures&) = delete;
  /// Returns nullptr without pair features.
  [[nodiscard]] const PairFunctions* get() const { return functions_.count() > 0 ? &functions_ : nullptr; }

 private:
  nanobind::object call_;
  PairFunctions functions_;
};

[[nodiscard]] LabelAware copy_of(const LabelAware& aware);
/// Copies a matrix of Python, which stays unchanged.
[[nodiscard]] AnyMatrix copy_of_kernel(const DenseArray& k);

}  // namespace widelimit::python
