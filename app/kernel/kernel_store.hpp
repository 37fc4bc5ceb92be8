#pragma once

#include "app/kernel/kernel_options.hpp"

#include "widelimit/data/request.hpp"

namespace widelimit::app {

/// `kernel` into an HDF5 file, tile by tile: the matrix may be larger than memory, and the work may be stopped and
/// resumed. From the data to the last line printed.
void run_stored(const KernelOptions& options, const KernelRequest& request, const DataRequest& data_request,
                const TrainTest& data, const Engine& engine);

}  // namespace widelimit::app
