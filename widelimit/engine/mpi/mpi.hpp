#pragma once

#include "widelimit/engine/select.hpp"

namespace widelimit {

/// The back end of an MPI communicator, tiles spread over its ranks, or Error{usage} that says why there is none.
[[nodiscard]] std::unique_ptr<Backend> make_mpi_backend();
[[nodiscard]] BackendPresence mpi_presence();

}  // namespace widelimit
