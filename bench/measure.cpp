#include "bench/measure.hpp"

#include "bench/openblas.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>
#include <type_traits>

namespace widelimit::bench {

void use_processors(int count) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&chosen) < count; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &chosen);
  }
  if (sched_setaffinity(0, sizeof(chosen), &chosen) != 0) fmt::print("note: not bound to {} processors\n", count);
}

/// Pause between clocks, since a process that has just finished still frees memory and has spinning threads.
constexpr std::chrono::milliseconds settling_time{300};

std::vector<double> medians_in_turn(const std::vector<std::function<double()>>& clocks, int repeats) {
  std::vector<std::vector<double>> seconds(clocks.size());
  for (int round = 0; round < repeats; ++round) {
    for (std::size_t i = 0; i < clocks.size(); ++i) {
      std::this_thread::sleep_for(settling_time);
      seconds[i].push_back(clocks[i]());
    }
  }
  std::vector<double> medians;
  for (auto& times : seconds) {
    std::sort(times.begin(), times.end());
    medians.push_back(times.empty() ? 0.0 : 0.5 * (times[(times.size() - 1) / 2] + times[times.size() / 2]));
  }
  return medians;
}

Matrix<double> normal_inputs(Index rows, Index cols) {
  const Random random(20240229);
  Matrix<double> x(rows, cols);
  for (Index i = 0; i < rows * cols; ++i) x.data()[i] = random.normal(static_cast<std::uint64_t>(i));
  return x;
}

template <std::floating_point T>
Matrix<T> converted(const Matrix<double>& x) {
  Matrix<T> y(x.rows(), x.cols());
  std::transform(x.data(), x.data() + x.rows() * x.cols(), y.data(),
                 [](double value) { return static_cast<T>(value); });
  return y;
}

void write_raw(const std::filesystem::path& path, const Matrix<double>& x) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(x.data()),
             static_cast<std::streamsize>(sizeof(double)) * x.rows() * x.cols());
  if (!file) fail(Code::resource, "cannot write {}", path.string());
}

template <std::floating_point T>
Matrix<T> read_raw(const std::filesystem::path& path, Index rows, Index cols) {
  Matrix<T> x(rows, cols);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(x.data()), static_cast<std::streamsize>(sizeof(T)) * rows * cols);
  if (!file) fail(Code::input, "{} does not contain {} x {} values", path.string(), rows, cols);
  return x;
}

template <std::floating_point T>
double disagreement(MatrixView<const T> a, MatrixView<const T> b) {
  double worst = 0.0;
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.cols; ++j) {
      if (i == j) continue;
      const double scale = std::sqrt(static_cast<double>(a(i, i)) * static_cast<double>(a(j, j)));
      const double difference = std::abs(static_cast<double>(a(i, j)) - static_cast<double>(b(i, j)));
      if (!(difference <= worst * scale)) worst = difference / scale;  // NaN propagates as the worst value
    }
  }
  return worst;
}

template <std::floating_point T>
double diagonal_error(MatrixView<const T> kernel, const Matrix<double>& x, Index layers) {
  double worst = 0.0;
  for (Index i = 0; i < kernel.rows; ++i) {
    double squares = 0.0;
    for (Index k = 0; k < x.cols(); ++k) {
      const auto value = static_cast<double>(static_cast<T>(x(i, k)));
      squares += value * value;
    }
    const double exact = static_cast<double>(layers) * 2.0 * squares / static_cast<double>(x.cols());
    const double error = std::abs(static_cast<double>(kernel(i, i)) / exact - 1.0);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

template <std::floating_point T>
double syrk_seconds(const Matrix<T>& x, Matrix<T>& out, int threads) {
  openblas::use_threads(threads);
  return seconds_of([&] { return openblas::syrk(x.view(), out.view()), 0; });
}

double multiply_adds_per_second() {
  constexpr Index size = 768;
  const Matrix<float> a = converted<float>(normal_inputs(size, size));
  Matrix<float> product(size, size);
  openblas::use_threads(1);
  double best = 0;
  for (int round = 0; round < 20; ++round) {
    const double seconds = seconds_of([&] { return openblas::gemm(a.view(), a.view(), product.view()), 0; });
    best = std::max(best, static_cast<double>(size * size * size) / 16 / seconds);
  }
  return best;
}

double product_rate(Index size, const Engine& engine) {
  Matrix<float> a(size, size);
  Matrix<float> c(size, size);
  std::fill_n(a.data(), size * size, 1.0F);
  const MatrixView<const float> factor = a.view();
  const auto product = [&] {
    engine.algebra().host_product(1, Transpose::no, factor, Transpose::no, factor, 0, c.view());
    return 0;
  };
  const auto side = static_cast<double>(size);
  double best = 0;
  for (int repeat = 0; repeat < 3; ++repeat) best = std::max(best, 2.0 * side * side * side / seconds_of(product));
  return best;
}

std::string verdict_at_least(double ratio, double target) {
  if (target <= 0) return "-";
  return fmt::format(">= {:g}x {}", target, ratio >= target ? "met" : "MISSED");
}

std::string verdict_at_most(double ratio, double target) {
  if (target <= 0) return "-";
  return fmt::format("<= {:g}x {}", target, ratio <= target ? "met" : "MISSED");
}

template Matrix<float> converted<float>(const Matrix<double>&);
template Matrix<double> converted<double>(const Matrix<double>&);
template Matrix<float> read_raw<float>(const std::filesystem::path&, Index, Index);
template Matrix<double> read_raw<double>(const std::filesystem::path&, Index, Index);
template double disagreement<float>(MatrixView<const float>, MatrixView<const float>);
template double disagreement<double>(MatrixView<const double>, MatrixView<const double>);
template double diagonal_error<float>(MatrixView<const float>, const Matrix<double>&, Index);
template double diagonal_error<double>(MatrixView<const double>, const Matrix<double>&, Index);
template double syrk_seconds<float>(const Matrix<float>&, Matrix<float>&, int);
template double syrk_seconds<double>(const Matrix<double>&, Matrix<double>&, int);

}  // namespace widelimit::bench
