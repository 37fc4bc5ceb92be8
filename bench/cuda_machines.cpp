// Machines on an NVIDIA device whose solver runs on the host or block by block.

#include "bench/cuda.hpp"

#include "bench/measure.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/network_gram.hpp"
#include "widelimit/machine/multiclass.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace widelimit::bench {
namespace {

constexpr Index columns = 10;

Network relu_network() { return Network::parse(fmt::format("fc:3(w_std={})", std::sqrt(2.0))); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

/// K·v for the first `rows` samples, with K never stored; seconds of each product except the first.
struct Product {
  Matrix<double> out;
  std::vector<double> seconds;

  Product(const Engine& engine, const Matrix<double>& x, Index rows, Precision precision, int repeats)
      : out(rows, columns) {
    const SampleView samples(x.view().block(0, 0, rows, x.cols()), Shape{1, 1, x.cols()});
    const GramMatrix k = network_gram(relu_network(), samples, {.precision = precision}, engine);
    Matrix<double> v(rows, columns);
    const Random random(3);
    for (Index i = 0; i < rows * columns; ++i) v.data()[i] = random.normal(static_cast<std::uint64_t>(i));
    for (int r = 0; r <= repeats; ++r) {
      const double taken = seconds_of([&] {
        k.multiply(v.view(), out.view());
        return 0;
      });
      if (r > 0) seconds.push_back(taken);
    }
  }
};

/// Largest difference relative to the largest entry.
double difference(const Matrix<double>& a, const Matrix<double>& b) {
  double worst = 0;
  double largest = 0;
  for (Index i = 0; i < a.rows() * a.cols(); ++i) {
    worst = std::max(worst, std::abs(a.data()[i] - b.data()[i]));
    largest = std::max(largest, std::abs(b.data()[i]));
  }
  return worst / largest;
}

struct LabelledDigits {
  Matrix<float> x;
  std::vector<Index> labels;
};

constexpr Index classes = 10;

/// Returns the first training digits of MNIST, with values in [0, 1].
std::optional<LabelledDigits> digits(Index rows) {
  try {
    const Dataset data = load_data("mnist:train");
    const auto& images = std::get<Matrix<float>>(data.values);
    rows = std::min(rows, images.rows());
    LabelledDigits result{Matrix<float>(rows, images.cols()), {data.labels.begin(), data.labels.begin() + rows}};
    std::transform(images.data(), images.data() + rows * images.cols(), result.x.data(),
                   [](float value) { return value / 255; });
    return result;
  } catch (const Error& error) {
    fmt::print("skipped: {}\n", error.what());
    return std::nullopt;
  }
}

struct Path {
  std::vector<Fit> fits;
  double kernel = 0;  ///< seconds
  double whole = 0;

  Path(const Engine& engine, const LabelledDigits& data, std::vector<double> costs, Precision precision) {
    std::vector<double> lambdas;
    for (const double c : costs) lambdas.push_back(1 / c);
    const SampleView samples(data.x.view(), Shape{1, 1, data.x.cols()});
    whole = seconds_of([&] {
      std::optional<GramMatrix> k;
      kernel = seconds_of([&] {
        k = gram_matrix(relu_network(), samples, {.kind = Kind::ntk, .precision = precision}, engine);
        return 0;
      });
      fits = one_vs_one_path(*k, data.labels, classes, lambdas, {.bias = true, .check_definite = false});
      return 0;
    });
  }
};

/// Whether both engines agree: both gaps are within the tolerance, and so is the difference of the objectives.
bool agree(const Path& ours, const Path& theirs) {
  bool all = true;
  for (std::size_t l = 0; l < ours.fits.size(); ++l) {
    const Summary& a = ours.fits[l].summary;
    const Summary& b = theirs.fits[l].summary;
    all = all && a.gap.value_or(1) <= 1e-6 && b.gap.value_or(1) <= 1e-6 &&
          std::abs(a.primal.value_or(0) / b.primal.value_or(1) - 1) <= 1e-5;
  }
  return all;
}

bool compare_paths(const Engine& engine, const Engine& cpu, const LabelledDigits& data, std::vector<double> costs,
                   Precision precision) {
  (void)Path(engine, data, {1e-2}, precision);  // warm-up: CUDA and cuBLAS load code on the first call of a size
  const Path ours(engine, data, costs, precision);
  const Path theirs(cpu, data, costs, precision);
  const bool right = agree(ours, theirs);
  fmt::print(
      "SVM, MNIST {}, one against one, {} values of C, {}: {:.3f} s (kernel {:.3f} s); cpu engine on {} CPU cores "
      "{:.3f} s (kernel {:.3f} s); ratio {:.2f}{}\n",
      data.x.rows(), costs.size(), to_string(precision), ours.whole, ours.kernel, cpu.threads(), theirs.whole,
      theirs.kernel, theirs.whole / ours.whole, right ? "" : " RESULTS DIFFER");
  return right;
}

}  // namespace

bool unstored_product(const Engine& engine, Index rows, Index cols, int repeats) {
  constexpr double target = 50;
  const Matrix<double> x = normal_inputs(rows, cols);
  const auto two = make_engine("cpu", {.threads = 2});
  const Index few = std::min<Index>(rows, 6000);
  bool right = true;
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    const Product theirs(*two, x, few, precision, 1);
    const Product checked(engine, x, few, precision, 1);
    const double error = difference(checked.out, theirs.out);
    if (!(error <= (precision == Precision::f32 ? 1e-5 : 1e-11))) {
      fmt::print("{}: RESULTS DIFFER by {:.1e}; not timed\n", to_string(precision), error);
      right = false;
      continue;
    }
    const Product ours(engine, x, rows, precision, repeats);
    const double pairs = static_cast<double>(rows) / static_cast<double>(few);
    const double scaled = median(theirs.seconds) * pairs * pairs;
    fmt::print(
        "product with {} columns, n = {}, K not stored, {}: {:.1f} ms; cpu engine on 2 CPU cores {:.2f} s, "
        "extrapolated from n = {}; ratio {:.0f}, {}; error {:.1e}\n",
        columns, rows, to_string(precision), 1e3 * median(ours.seconds), scaled, few, scaled / median(ours.seconds),
        verdict_at_least(scaled / median(ours.seconds), target), error);
  }
  return right;
}

bool support_vectors(const Engine& engine, Index rows) {
  const auto few = digits(std::min<Index>(rows, 5000));
  if (!few) return true;
  const auto cpu = make_engine("cpu");
  bool right = true;
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    right = compare_paths(engine, *cpu, *few, {1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4}, precision) && right;
  }
  if (rows <= few->x.rows()) return right;
  return compare_paths(engine, *cpu, *digits(rows), {1.0}, Precision::f32) && right;
}

}  // namespace widelimit::bench
