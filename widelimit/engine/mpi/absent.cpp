#include "widelimit/base/error.hpp"
#include "widelimit/engine/mpi/mpi.hpp"

namespace widelimit {

EnginePresence mpi_presence() { return {"mpi", false, "this version has no MPI back end yet"}; }

std::unique_ptr<Engine> make_mpi_engine() {
  fail(Code::usage, "back end mpi is absent: {}; use back end cpu", mpi_presence().detail);
}

}  // namespace widelimit
