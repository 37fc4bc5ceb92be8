#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/types.hpp"
#include "widelimit/engine/engine.hpp"

#include <chrono>
#include <concepts>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace widelimit::bench {

/// Binds this process and the peers it starts to `count` processors: the targets are for two.
void use_processors(int count);

/// Seconds of one call; what the call returns is destroyed after the clock has stopped.
template <typename Work>
[[nodiscard]] double seconds_of(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  [[maybe_unused]] const auto result = work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Medians of several clocks read in turn, `repeats` rounds: [i] belongs to clocks[i].
[[nodiscard]] std::vector<double> medians_in_turn(const std::vector<std::function<double()>>& clocks, int repeats);

/// rows × cols standard normals: the inputs of every benchmark here.
[[nodiscard]] Matrix<double> normal_inputs(Index rows, Index cols);
template <std::floating_point T>
[[nodiscard]] Matrix<T> converted(const Matrix<double>& x);

/// Raw little-endian numbers, row by row.
void write_raw(const std::filesystem::path& path, const Matrix<double>& x);
template <std::floating_point T>
[[nodiscard]] Matrix<T> read_raw(const std::filesystem::path& path, Index rows, Index cols);

/// Largest |a − b|/√(a_ii a_jj) over i ≠ j. The diagonal is left out: peers take √(1 − ρ²) of a rounded ρ, so theirs
/// is off by √ε, and has a closed form to be compared with instead.
template <std::floating_point T>
[[nodiscard]] double disagreement(MatrixView<const T> a, MatrixView<const T> b);

/// Largest relative error of the diagonal against `layers`·2‖x‖²/d, the ReLU NTK of a point with itself where that
/// many weight layers of w_std = √2 are trained.                                        [docs/theory/kernels.md]
template <std::floating_point T>
[[nodiscard]] double diagonal_error(MatrixView<const T> kernel, const Matrix<double>& x, Index layers);

/// Seconds of cblas_?syrk alone, into memory touched before: what the products cost.
template <std::floating_point T>
[[nodiscard]] double syrk_seconds(const Matrix<T>& x, Matrix<T>& out, int threads);

/// Vector multiply-adds a second, each of 16 floats, that one thread sustains in a large product: what arithmetic on
/// registers can reach here.
[[nodiscard]] double multiply_adds_per_second();

/// Operations a second of a square product of float32 on the engine's threads; the best of three.
[[nodiscard]] double product_rate(Index size, const Engine& engine);

/// Answers must agree this closely before a time is worth printing.
template <std::floating_point T>
constexpr double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-11;

/// ">= 6x met", "<= 1.4x MISSED"; "-" where the target is 0, that is, none.
[[nodiscard]] std::string verdict_at_least(double ratio, double target);
[[nodiscard]] std::string verdict_at_most(double ratio, double target);

}  // namespace widelimit::bench
