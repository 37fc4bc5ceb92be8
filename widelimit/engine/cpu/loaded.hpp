#pragma once

#include "widelimit/engine/backend.hpp"

namespace widelimit::cpu {

/// What both engines keep of a set of samples besides their own.
struct CpuLoaded : Loaded {
  Matrix<double> diagonal;  ///< outputs × n, of each sample with itself
  double error = 0.0;       ///< of quadrature
  [[nodiscard]] Index count() const override { return diagonal.cols(); }
  [[nodiscard]] double quadrature_error() const override { return error; }
};

}  // namespace widelimit::cpu
