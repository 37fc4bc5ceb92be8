#pragma once

#include "widelimit/engine/engine.hpp"

#include <string>

namespace widelimit::bench {

struct FiniteSizes {
  Index rows = 0;
  Index cols = 784;
  Index width = 0;
  int repeats = 5;
};

/// A training step of two hidden layers in float32, compared with its cuBLAS products alone. Returns false if losses
/// differ from those of the CPU.
[[nodiscard]] bool training_steps(const Engine& engine, const FiniteSizes& sizes);

/// The empirical NTK of three hidden layers, compared with Jacobians of torch.func on the same device: `python` runs
/// the script in the folder `peers`; if empty, only the CPU is compared. Returns false if results differ.
[[nodiscard]] bool empirical_kernels(const Engine& engine, const FiniteSizes& sizes, const std::string& python,
                                     const std::string& peers);

}  // namespace widelimit::bench
