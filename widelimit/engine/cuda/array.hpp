#pragma once

#include "widelimit/base/types.hpp"

namespace widelimit::cuda {

/// A row-major matrix in device memory.
struct Array {
  void* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;
  Precision precision = Precision::f64;
};
/// A row-major matrix in host memory.
struct HostArray {
  void* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;
  Precision precision = Precision::f64;
};

enum class Triangle : bool { lower, upper };

}  // namespace widelimit::cuda
