#pragma once

#include "widelimit/engine/backend.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

struct BackendOptions {
  int threads = 0;  ///< 0: one per processor this process may use
};

/// "cpu", "reference", "cuda:N" or "mpi". Never falls back: Error{usage} says why a back end is absent.
[[nodiscard]] std::unique_ptr<Backend> make_backend(std::string_view spec, const BackendOptions& options = {});

/// For `doctor`: a back end, or why it is not there.
struct BackendPresence {
  std::string name;
  bool present = false;
  std::string detail;
};
[[nodiscard]] std::vector<BackendPresence> list_backends();

}  // namespace widelimit
