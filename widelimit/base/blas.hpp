#pragma once

namespace widelimit {

/// OpenBLAS picks its kernels by a table of processor models; a processor newer than the table gets the oldest kernels
/// there are, several times slower than it could run. Where that happens, this makes it choose again by what the
/// processor can do. Once for each process, before the first product; thread-safe; no effect elsewhere.
void choose_blas_kernels();

/// Version and kernels in use, e.g. "OpenBLAS 0.3.21 SkylakeX".
[[nodiscard]] const char* blas_description();

}  // namespace widelimit
