#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/engine/algebra.hpp"

/// Passes over all entries of a host matrix, in strips of rows distributed over threads (specified by Algebra).
namespace widelimit::cpu {

template <std::floating_point T>
[[nodiscard]] Symmetry symmetry_of(MatrixView<const T> k, double allowed, int threads);

template <std::floating_point T>
[[nodiscard]] std::uint64_t checksum_of(MatrixView<const T> k, int threads);

template <std::floating_point T, std::floating_point Out>
[[nodiscard]] double fill_scaled(MatrixView<const T> k, std::span<const double> scale, std::span<const double> shift,
                                 MatrixView<Out> out, int threads, Progress* progress);

template <std::floating_point T>
void multiply_compensated(MatrixView<const T> k, MatrixView<const double> v, MatrixView<double> out, int threads,
                          Progress* progress);

template <std::floating_point T>
[[nodiscard]] double upper_norm(MatrixView<const T> a);

}  // namespace widelimit::cpu
