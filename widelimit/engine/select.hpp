#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

struct EngineOptions {
  int threads = 0;  ///< 0: one per processor this process may use
};

/// "cpu", "reference", "cuda:N" or "mpi". Never falls back: Error{usage} says why a back end is absent.
[[nodiscard]] std::unique_ptr<Engine> make_engine(std::string_view spec, const EngineOptions& options = {});

/// "cpu" with one thread for each processor that this process may use: for callers who bring a matrix and name no
/// engine.
[[nodiscard]] const Engine& all_processors();

/// The vector instructions of the code for the processor: "AVX2".
[[nodiscard]] std::string_view vector_instructions();

/// For `doctor`: a back end, or why it is not there.
struct EnginePresence {
  std::string name;
  bool present = false;
  std::string detail;
};
[[nodiscard]] std::vector<EnginePresence> list_engines();
/// Names of the back ends that are there, for help and messages: "cpu, reference".
[[nodiscard]] std::string engine_names();

}  // namespace widelimit
