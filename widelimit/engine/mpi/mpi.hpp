#pragma once

#include "widelimit/engine/select.hpp"

namespace widelimit {

/// Returns the MPI back end, which distributes tiles over the ranks of a communicator; throws Error{usage} if it is
/// absent.
[[nodiscard]] std::unique_ptr<Engine> make_mpi_engine();
[[nodiscard]] EnginePresence mpi_presence();

}  // namespace widelimit
