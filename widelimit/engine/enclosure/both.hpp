#pragma once

/// Marks functions for host and device code.
#ifdef __CUDACC__
#define WIDELIMIT_BOTH __host__ __device__
#else
#define WIDELIMIT_BOTH
#endif
