#pragma once

namespace widelimit {

/// Loads OpenBLAS with the fastest kernels for this processor, unless it is loaded; the first BLAS call does the same.
/// Thread-safe. Throws Error{resource} if it cannot be loaded.
void choose_blas_kernels();

/// Returns version and kernels, e.g. "OpenBLAS 0.3.21 SkylakeX", or the reason why OpenBLAS is absent.
[[nodiscard]] const char* blas_description();

}  // namespace widelimit
