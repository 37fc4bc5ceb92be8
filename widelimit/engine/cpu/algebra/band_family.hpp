#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/engine/algebra.hpp"

#include <memory>

namespace widelimit::cpu {

/// The shifts of a symmetric matrix, of which the upper triangle is read, by its band form.
[[nodiscard]] std::unique_ptr<ShiftedFamily> band_family(Matrix<double> a, int threads, Progress* progress);

}  // namespace widelimit::cpu
