#pragma once

#include "widelimit/engine/engine.hpp"

namespace widelimit::bench {

/// One product of a kernel matrix that is never stored with ten columns, compared with the cpu engine on two cores.
[[nodiscard]] bool stored_nowhere(const Engine& engine, Index rows, Index cols, int repeats);

/// Support vector machines of ten classes, one against one, from samples to coefficients, compared with the cpu engine
/// on all cores: the path of bench/svm.cpp on 5,000 digits, then one value of C on `rows`.
[[nodiscard]] bool support_vectors(const Engine& engine, Index rows);

}  // namespace widelimit::bench
