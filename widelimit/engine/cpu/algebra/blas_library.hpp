#pragma once

/// OpenBLAS, loaded lazily at the first call, so that programs without products need neither its start-up time nor its
/// memory: OpenBLAS maps 128 MiB of address space per calling thread, and version 0.3.21 retries forever if the system
/// refuses (`ulimit -v`). All buffers are therefore reserved here before a call.
namespace widelimit {

/// Loads OpenBLAS with the fastest kernels for this processor, unless it is loaded; the first BLAS call does the same.
/// Thread-safe. Throws Error{resource} if it cannot be loaded.
void choose_blas_kernels();

/// Returns version and kernels, e.g. "OpenBLAS 0.3.21 SkylakeX", or the reason why OpenBLAS is absent.
[[nodiscard]] const char* blas_description();

/// Returns the routine `name`; loads OpenBLAS if necessary. Thread-safe. Throws Error{resource} if it cannot be loaded.
[[nodiscard]] void* blas_routine(const char* name);

/// Reserves buffers for `calls` concurrent BLAS calls; throws Error{resource} if the system refuses. Call it before a
/// team of threads starts, because their other allocations would race with it. One comparison if enough are reserved.
void prepare_blas_calls(int calls);

/// The same for one call by this thread.
void prepare_blas_call();

}  // namespace widelimit
