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

/// Partial sums of each entry of a precise product, and their bytes: a high and a low part each.
constexpr Index precise_segments = 32;
constexpr std::size_t precise_bytes = usize(precise_segments) * 2 * sizeof(double);

}  // namespace widelimit::cuda
