// Ridge regression on MNIST by conjugate gradients; the Gram matrix is computed tile by tile for each product and never
// stored: ten classes one-hot, fc:1, on two CPU cores. Prints iterations, seconds, residual, accuracy and memory, and
// compares a product with sgemm.

#include "bench/measure.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/network_gram.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/model.hpp"
#include "widelimit/machine/ridge/ridge_network.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

namespace widelimit::bench {
namespace {

constexpr int threads = 2;
constexpr Index classes = 10;
constexpr Index max_stored_samples = 6000;  ///< its matrix is stored

struct Arguments {
  Index samples = 10'000;
  std::string memory = "2GiB";
  double lambda = 1;
  double tolerance = 1e-5;
  std::optional<Index> rank;
};

/// Returns the first `limit` samples in file order, with values in [0, 1].
Dataset digits(const char* spec, Index limit) {
  Dataset data = load_data(spec);
  const Index count = std::min(limit, data.count());
  const auto& images = std::get<Matrix<float>>(data.values);
  Matrix<float> x(count, images.cols());
  std::transform(images.data(), images.data() + count * images.cols(), x.data(), [](float v) { return v / 255; });
  data.values = std::move(x);
  data.labels.resize(static_cast<std::size_t>(count));
  return data;
}

Index correct(const Matrix<double>& decisions, const Dataset& data) {
  const auto predicted = classes_of(Scheme::one_hot, classes, decisions.view());
  Index matches = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) matches += predicted[i] == data.labels[i] ? 1 : 0;
  return matches;
}

/// Counts the samples whose two largest outputs differ by less than 2·`error`, i.e. whose class an error of this size
/// could change.
Index undecided(const Matrix<double>& decisions, double error) {
  Index count = 0;
  for (Index i = 0; i < decisions.rows(); ++i) {
    std::vector<double> row(decisions.view().row(i), decisions.view().row(i) + decisions.cols());
    std::partial_sort(row.begin(), row.begin() + 2, row.end(), std::greater<>());
    count += row[0] - row[1] < 2 * error ? 1 : 0;
  }
  return count;
}

/// Prints the seconds per pair of one product with ten columns, and of ssyrk on the same samples.
void print_product(const Network& network, const Dataset& train, const Engine& engine) {
  const auto& all = std::get<Matrix<float>>(train.values);
  const Index n = std::min(train.count(), max_stored_samples);
  Matrix<float> x(n, all.cols());
  std::copy_n(all.data(), n * all.cols(), x.data());
  const SampleView samples(x.view(), train.shape);
  const GramMatrix k = network_gram(network, samples, {}, engine);
  Matrix<double> v(n, classes);
  std::fill_n(v.data(), n * classes, 1.0);
  Matrix<double> out(n, classes);
  Matrix<float> square(n, n);
  const auto seconds = medians_in_turn({[&] {
                                          return seconds_of([&] {
                                            k.multiply(v.view(), out.view());
                                            return 0;
                                          });
                                        },
                                        [&] { return syrk_seconds(x, square, threads); }},
                                       5);
  const double pairs = static_cast<double>(n) * static_cast<double>(n + 1) / 2;
  fmt::print("a product of {} samples: {:.3f} s, {:.2f} ns a pair; ssyrk {:.3f} s, ratio {:.2f}\n", n, seconds[0],
             1e9 * seconds[0] / pairs, seconds[1], seconds[0] / seconds[1]);
}

Matrix<double> test_decisions(const Network& network, const Fit& fit, const Dataset& train, const Dataset& test,
                              const Engine& engine) {
  Model model;
  model.kernel = network;
  model.precision = Precision::f32;
  model.machine = Machine::ridge;
  model.scheme = Scheme::one_hot;
  for (Index c = 0; c < classes; ++c) model.classes.push_back(std::to_string(c));
  set_support(model, fit, train.view());
  return predict_decisions(model, test.view(), engine);
}

void run(const Arguments& arguments) {
  use_processors(threads);
  const auto engine = make_engine("cpu", {.threads = threads});
  const Dataset train = digits("mnist:train", arguments.samples);
  const Dataset test = digits("mnist:test", 10'000);
  const Network network = Network::parse(fmt::format("fc:1(w_std={})", std::sqrt(2.0)));
  print_product(network, train, *engine);

  const Matrix<double> y = class_targets(train.labels, classes);
  RidgeNetworkOptions options;
  options.memory = parse_bytes(arguments.memory);
  options.solver = {.lambda = arguments.lambda, .tolerance = arguments.tolerance, .rank = arguments.rank};
  const ConjugateGradientFit found = fit_ridge(network, train.view(), y.view(), options, *engine);
  const Summary& summary = found.fit.summary;
  fmt::print("{} samples, λ = {}: {}, {}\n", train.count(), arguments.lambda, text(summary.ending), summary.method);
  fmt::print("  {} iterations, {:.1f} s, residual {:.1e}, duality gap {:.1e}, {} held\n", summary.iterations,
             summary.seconds, *summary.gradient, summary.gap.value_or(0),
             bytes_text(static_cast<double>(summary.memory)));
  const Matrix<double> g = test_decisions(network, found.fit, train, test, *engine);
  const double rms = arguments.tolerance / std::sqrt(static_cast<double>(classes));
  fmt::print("  accuracy: train {:.4f}, test {:.4f}\n",
             static_cast<double>(correct(found.decisions, train)) / static_cast<double>(train.count()),
             static_cast<double>(correct(g, test)) / static_cast<double>(test.count()));
  fmt::print(
      "  outputs on the training samples are within {:.1e} (root mean square) of the exact ones; {} of {} test "
      "samples are nearer than twice that to another class\n",
      rms, undecided(g, rms), test.count());
  if (const auto peak = peak_memory()) fmt::print("  peak memory {}\n", bytes_text(static_cast<double>(*peak)));
}

int start(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("ridge on MNIST by conjugate gradients, without the Gram matrix");
  app.add_option("n", arguments.samples, "training samples")->check(CLI::Range(20, 60'000))->capture_default_str();
  app.add_option("--memory", arguments.memory, "memory limit, without the samples")->capture_default_str();
  app.add_option("--lambda", arguments.lambda)->capture_default_str();
  app.add_option("--tolerance", arguments.tolerance, "relative residual")->capture_default_str();
  app.add_option("--rank", arguments.rank, "rank of the preconditioner; default: chosen by cost and memory");
  CLI11_PARSE(app, argc, argv);
  try {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    run(arguments);
    return 0;
  } catch (const Error& error) {
    // Missing data is not an error: there is nothing to measure.
    const bool absent = error.code() == Code::input;
    fmt::print(absent ? stdout : stderr, "{}{}\n", absent ? "skipped: " : "", error.what());
    return absent ? 0 : 1;
  }
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) { return widelimit::bench::start(argc, argv); }
