#pragma once

namespace widelimit {

/// OpenBLAS as a library that is loaded with the first call, so that programs without products neither wait for it nor
/// need its memory: OpenBLAS maps 128 MiB of address space for each thread that calls it, and version 0.3.21 retries
/// endlessly where the system refuses (`ulimit -v`). All buffers are therefore taken here, before a call would.

/// The routine `name`. Loads OpenBLAS where it was not; thread-safe. Error{resource} where it cannot be loaded.
[[nodiscard]] void* blas_routine(const char* name);

/// Error{resource} unless so many threads can call BLAS at once. Before a team of them starts: once they run, whatever
/// else they allocate would race with it. Costs a comparison where as many were prepared for.
void prepare_blas_calls(int calls);

/// The same for a call by this thread alone.
void prepare_blas_call();

}  // namespace widelimit
