#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/types.hpp"
#include "widelimit/engine/engine.hpp"

#include <chrono>
#include <cmath>
#include <concepts>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace widelimit::bench {

/// Binds this process and the peers it starts to `count` CPU cores; the targets assume two.
void use_processors(int count);

/// Returns the seconds of one call; its result is destroyed after the clock has stopped.
template <typename Work>
[[nodiscard]] double seconds_of(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  [[maybe_unused]] const auto result = work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Returns the medians of several clocks, run alternately for `repeats` rounds: [i] belongs to clocks[i].
[[nodiscard]] std::vector<double> medians_in_turn(const std::vector<std::function<double()>>& clocks, int repeats);

/// Returns rows × cols standard normal values, the inputs of every benchmark.
[[nodiscard]] Matrix<double> normal_inputs(Index rows, Index cols);
template <std::floating_point T>
[[nodiscard]] Matrix<T> converted(const Matrix<double>& x);

/// Raw little-endian values in row-major order.
void write_raw(const std::filesystem::path& path, const Matrix<double>& x);
template <std::floating_point T>
[[nodiscard]] Matrix<T> read_raw(const std::filesystem::path& path, Index rows, Index cols);

/// Returns the largest |a − b|/√(a_ii a_jj) over i ≠ j. The diagonal is excluded: peers compute √(1 − ρ²) from a
/// rounded ρ, with an error of √ε; use diagonal_error, which compares with a closed form.
template <std::floating_point T>
[[nodiscard]] double disagreement(MatrixView<const T> a, MatrixView<const T> b);

/// Returns the largest |a/b − 1| over all entries; NaN if there is one.
template <std::floating_point T, std::floating_point U>
[[nodiscard]] double relative_difference(const Matrix<T>& a, const Matrix<U>& b) {
  double worst = 0;
  for (Index k = 0; k < b.rows() * b.cols(); ++k) {
    const double error = std::abs(static_cast<double>(a.data()[k]) / static_cast<double>(b.data()[k]) - 1);
    if (!(error <= worst)) worst = error;  // NaN propagates as the worst value
  }
  return worst;
}

/// Returns the largest relative error of the diagonal against `layers`·2‖x‖²/d, the ReLU NTK k(x, x) of a network with
/// that many trained weight layers of w_std = √2.                                        [docs/theory/kernels.md]
template <std::floating_point T>
[[nodiscard]] double diagonal_error(MatrixView<const T> kernel, const Matrix<double>& x, Index layers);

/// Returns the seconds of cblas_?syrk alone, i.e. the cost of the products, on memory touched before.
template <std::floating_point T>
[[nodiscard]] double syrk_seconds(const Matrix<T>& x, Matrix<T>& out, int threads);

/// Returns the vector multiply-adds per second (16 floats each) that one thread sustains in a large product: an
/// estimate of the peak arithmetic rate of this machine.
[[nodiscard]] double multiply_adds_per_second();

/// Returns the operations per second of a square float32 product on the engine's threads; the best of three.
[[nodiscard]] double product_rate(Index size, const Engine& engine);

/// Maximum difference between results that are timed.
template <std::floating_point T>
constexpr double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-11;

/// ">= 6x met", "<= 1.4x MISSED"; "-" if the target is 0, i.e. there is none.
[[nodiscard]] std::string verdict_at_least(double ratio, double target);
[[nodiscard]] std::string verdict_at_most(double ratio, double target);

}  // namespace widelimit::bench
