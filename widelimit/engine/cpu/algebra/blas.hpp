#pragma once

namespace widelimit {

/// Loads OpenBLAS, with the kernels that are the fastest for this processor, where it was not yet: a call would do so
/// too. Thread-safe. Error{resource} where it cannot be loaded.
void choose_blas_kernels();

/// Version and kernels in use, e.g. "OpenBLAS 0.3.21 SkylakeX"; or why there is none.
[[nodiscard]] const char* blas_description();

}  // namespace widelimit
