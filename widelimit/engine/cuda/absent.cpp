#include "widelimit/base/error.hpp"
#include "widelimit/engine/cuda/cuda.hpp"

namespace widelimit {

EnginePresence cuda_presence() { return {"cuda", false, "this version has no CUDA back end yet"}; }

std::unique_ptr<Engine> make_cuda_engine(int device) {
  fail(Code::usage, "back end cuda:{} is absent: {}; use back end cpu", device, cuda_presence().detail);
}

}  // namespace widelimit
