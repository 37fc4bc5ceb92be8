#include "widelimit/engine/select.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/cpu/cpu.hpp"
#include "widelimit/engine/cpu/vector/strip.hpp"
#include "widelimit/engine/cuda/cuda.hpp"
#include "widelimit/engine/mpi/mpi.hpp"
#include "widelimit/engine/reference/reference.hpp"

#include <charconv>
#include <optional>
#include <string>

namespace widelimit {

namespace {

constexpr std::string_view device_prefix = "cuda:";

/// Returns N of "cuda:N", 0 for "cuda"; nothing for other text.
std::optional<int> cuda_number(std::string_view spec) {
  if (spec == "cuda") return 0;
  if (!spec.starts_with(device_prefix)) return std::nullopt;
  const std::string_view digits = spec.substr(device_prefix.size());
  int number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

void check_engine_name(std::string_view spec) {
  if (spec == "cpu" || spec == "reference" || spec == "mpi" || cuda_number(spec)) return;
  if (spec.starts_with(device_prefix)) {
    fail(Code::usage, "back end '{}' names no device; give its number, counted from 0, as in cuda:0", spec);
  }
  // An NVIDIA device is 'cuda:0' here, 'gpu' elsewhere, which is closer to 'cpu'.
  const std::string guess = suggestion(spec, {"cpu", "reference", "cuda:0", "gpu", "gpu:0"});
  const bool device = guess.find("gpu") != std::string::npos;
  fail(Code::usage, "back end '{}' is unknown; choose one of {}{}", spec, engine_names(),
       device ? "; an NVIDIA device is 'cuda:0'" : guess);
}

std::unique_ptr<Engine> make_engine(std::string_view spec, const EngineOptions& options) {
  if (options.threads < 0 || options.threads > 4096) {
    fail(Code::usage, "threads = {} is invalid; give a number from 1 to 4096, or 0 for all processors",
         options.threads);
  }
  check_engine_name(spec);
  if (spec == "cpu") return make_cpu_engine(options.threads);
  if (spec == "reference") return make_reference_engine();
  if (spec == "mpi") return make_mpi_engine();
  return make_cuda_engine(*cuda_number(spec), options.threads);
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
