#pragma once

#include "widelimit/base/types.hpp"

namespace widelimit::cuda {

/// A matrix in the memory of a device, row by row.
struct Array {
  void* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;
  Precision precision = Precision::f64;
};
/// The same of the host.
struct HostArray {
  void* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;
  Precision precision = Precision::f64;
};

enum class Triangle : bool { lower, upper };

}  // namespace widelimit::cuda
