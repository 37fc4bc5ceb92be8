#pragma once

#include "widelimit/engine/algebra.hpp"
#include "widelimit/engine/cuda/device_memory.hpp"

namespace widelimit::cuda {

/// Returns the family A + cI = Q(Λ + cI)Qᵀ for all c; the eigenvectors are the rows of `vectors`.
[[nodiscard]] std::unique_ptr<ShiftedFamily> eigen_family(std::shared_ptr<Device> device, EngineMatrix vectors,
                                                          std::vector<double> values);

}  // namespace widelimit::cuda
