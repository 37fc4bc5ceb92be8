#include "widelimit/engine/select.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/cpu/cpu.hpp"
#include "widelimit/engine/cpu/vector/strip.hpp"
#include "widelimit/engine/cuda/cuda.hpp"
#include "widelimit/engine/mpi/mpi.hpp"
#include "widelimit/engine/reference/reference.hpp"

#include <charconv>

namespace widelimit {

std::unique_ptr<Engine> make_engine(std::string_view spec, const EngineOptions& options) {
  if (options.threads < 0 || options.threads > 4096) {
    fail(Code::usage, "threads = {} is invalid; give a number from 1 to 4096, or 0 for all processors",
         options.threads);
  }
  if (spec == "cpu") return make_cpu_engine(options.threads);
  if (spec == "reference") return make_reference_engine();
  if (spec == "mpi") return make_mpi_engine();
  if (spec == "cuda") return make_cuda_engine(0, options.threads);
  if (spec.starts_with("cuda:")) {
    int device = 0;
    const auto [end, error] = std::from_chars(spec.data() + 5, spec.data() + spec.size(), device);
    if (error == std::errc{} && end == spec.data() + spec.size() && device >= 0)
      return make_cuda_engine(device, options.threads);
  }
  fail(Code::usage, "back end '{}' is unknown; choose one of {}{}", spec, engine_names(),
       suggestion(spec, {"cpu", "reference"}));
}

std::string_view vector_instructions() { return cpu::vector_target(); }

std::vector<EnginePresence> list_engines() {
  return {{"cpu", true, make_cpu_engine(0)->description()},
          {"reference", true, make_reference_engine()->description()},
          cuda_presence(),
          mpi_presence()};
}

std::string engine_names() {
  std::string names = "cpu, reference";
  if (cuda_is_likely()) names += ", cuda:N";
  if (mpi_presence().present) names += ", mpi";
  return names;
}

}  // namespace widelimit
