#pragma once

#include "widelimit/engine/algebra.hpp"
#include "widelimit/engine/cuda/device_memory.hpp"

namespace widelimit::cuda {

/// A + cI = Q(Λ + cI)Qᵀ for all c, from the eigenvectors in the rows of `vectors`.
[[nodiscard]] std::unique_ptr<ShiftedFamily> eigen_family(std::shared_ptr<Device> device, EngineMatrix vectors,
                                                          std::vector<double> values);

}  // namespace widelimit::cuda
