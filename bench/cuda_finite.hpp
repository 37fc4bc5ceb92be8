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

/// A step of training of two hidden layers in float32 beside the products in it, by cuBLAS. False where losses differ
/// from those of the processor.
[[nodiscard]] bool training_steps(const Engine& engine, const FiniteSizes& sizes);

/// The empirical NTK of three hidden layers beside Jacobians of torch.func on the same device: `python` runs the script
/// of the folder `peers`; without it, beside the processor alone. False where answers differ.
[[nodiscard]] bool empirical_kernels(const Engine& engine, const FiniteSizes& sizes, const std::string& python,
                                     const std::string& peers);

}  // namespace widelimit::bench
