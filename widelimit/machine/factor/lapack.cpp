#include "widelimit/machine/factor/lapack.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/blas.hpp"

#include <omp.h>

#include <limits>

namespace widelimit {

int lapack_size(Index n) {
  if (n > std::numeric_limits<int>::max() / 8) fail(Code::resource, "{} samples are more than LAPACK can count", n);
  return static_cast<int>(n);
}

BlasTeam::BlasTeam(int threads) : threads_before_(omp_get_max_threads()) {
  choose_blas_kernels();
  omp_set_num_threads(team_size(threads));
}
BlasTeam::~BlasTeam() { omp_set_num_threads(threads_before_); }

}  // namespace widelimit
