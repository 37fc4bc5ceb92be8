#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

struct EngineOptions {
  int threads = 0;  ///< 0: one per available processor
};

/// Returns the back end "cpu", "reference", "cuda:N" or "mpi". No fallback: throws Error{usage} with the reason if it
/// is absent.
[[nodiscard]] std::unique_ptr<Engine> make_engine(std::string_view spec, const EngineOptions& options = {});

/// Returns "cpu" with one thread per available processor, for callers that pass a matrix without naming an engine.
[[nodiscard]] const Engine& all_processors();

/// Throws Error{usage} unless `spec` has the form of a back end's name; the back end itself may be absent.
void check_engine_name(std::string_view spec);

/// Returns the vector instruction set in use, e.g. "AVX2".
[[nodiscard]] std::string_view vector_instructions();

/// A back end, or the reason why it is absent; for `doctor`.
struct EnginePresence {
  std::string name;
  bool present = false;
  std::string detail;
};
[[nodiscard]] std::vector<EnginePresence> list_engines();
/// Returns the names of the available back ends for help and messages: "cpu, reference".
[[nodiscard]] std::string engine_names();

}  // namespace widelimit
