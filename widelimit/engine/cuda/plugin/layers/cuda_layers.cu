#include "widelimit/engine/cuda/layers/machine_passes.hpp"
#include "widelimit/engine/cuda/plugin/layers/cuda_machine.hpp"

namespace widelimit::cuda {

template <std::floating_point T>
std::unique_ptr<LayerPasses<T>> make_cuda_layers(CudaDevice& device) {
  return std::make_unique<MachinePasses<T, CudaMachine>>(CudaMachine(device));
}

template std::unique_ptr<LayerPasses<float>> make_cuda_layers(CudaDevice&);
template std::unique_ptr<LayerPasses<double>> make_cuda_layers(CudaDevice&);

}  // namespace widelimit::cuda
