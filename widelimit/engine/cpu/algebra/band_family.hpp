#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/engine/algebra.hpp"

#include <memory>

namespace widelimit::cpu {

/// Returns the ShiftedFamily of a symmetric matrix, given by its upper triangle, based on its band form.
[[nodiscard]] std::unique_ptr<ShiftedFamily> band_family(Matrix<double> a, int threads, Progress* progress);

}  // namespace widelimit::cpu
