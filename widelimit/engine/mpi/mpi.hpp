#pragma once

#include "widelimit/engine/select.hpp"

namespace widelimit {

/// The back end of an MPI communicator, tiles spread over its ranks, or Error{usage} that says why there is none.
[[nodiscard]] std::unique_ptr<Engine> make_mpi_engine();
[[nodiscard]] EnginePresence mpi_presence();

}  // namespace widelimit
