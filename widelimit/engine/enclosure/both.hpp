#pragma once

/// Before functions that are for the host and for devices.
#ifdef __CUDACC__
#define WIDELIMIT_BOTH __host__ __device__
#else
#define WIDELIMIT_BOTH
#endif
