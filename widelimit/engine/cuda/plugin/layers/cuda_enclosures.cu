#include "widelimit/engine/cuda/plugin/layers/cuda_machine.hpp"
#include "widelimit/engine/enclosure/layer_enclosures.hpp"

namespace widelimit::cuda {

std::unique_ptr<EnclosurePasses> make_cuda_enclosures(CudaDevice& device) {
  return std::make_unique<MachineEnclosures<CudaMachine>>(CudaMachine(device));
}

}  // namespace widelimit::cuda
