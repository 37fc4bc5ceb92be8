// Benchmarks on an NVIDIA device: the NTK of fully-connected ReLU networks compared with the product of the inputs
// alone (cuBLAS), ridge from samples to coefficients compared with the Cholesky factorisation alone, and others in
// cuda_*.cpp.

#include "bench/cuda.hpp"
#include "bench/measure.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/ridge/ridge.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

namespace widelimit::bench {
namespace {

struct Asked {
  std::string backend = "cuda:0";
  std::string work = "dense";
  std::string network;
  std::string python;
  std::string peers = "peers";
  std::optional<Index> given_rows;
  Index rows = 20'000;
  Index cols = 784;
  std::optional<Index> width;
  int repeats = 5;
};

constexpr Index compared = 300;  ///< samples whose kernel is compared with the CPU's

Network network_of(int depth) { return Network::parse(fmt::format("fc:{}(w_std={})", depth, std::sqrt(2.0))); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

/// Times the Gram matrix of all samples on the device; compares its leading block with the CPU in float64.
template <typename T>
bool dense(const Asked& asked, const Matrix<double>& inputs, const Engine& engine) {
  const Matrix<T> x = converted<T>(inputs);
  const SampleView samples(x.view(), Shape{1, 1, asked.cols});
  const Index few = std::min(compared, asked.rows);
  const Algebra& algebra = engine.algebra();
  bool agree = true;
  for (const int depth : {1, 3, 10}) {
    const Network network = network_of(depth);
    const GramOptions options{.kind = Kind::ntk, .precision = precision_of<T>};
    std::vector<double> seconds;
    double error = 0;
    {
      const GramMatrix k = gram_matrix(network, samples, options, engine);
      Matrix<double> ours(few, few);
      algebra.read(k.matrix().block(0, 0, few, few), ours.view());
      const Gram theirs = gram(network, samples.part(0, few), {.kind = Kind::ntk}, all_processors());
      error = disagreement<double>(ours.view(), std::get<Matrix<double>>(theirs.ntk).view());
    }
    agree = agree && error <= tolerance<T>;
    const Recipe recipe = lower(network, samples.shape, RecipeOutputs::ntk);
    const auto loaded = engine.kernels().load(recipe, samples, precision_of<T>, [](Index) {});
    const EngineMatrix out = algebra.allocate(asked.rows, asked.rows, precision_of<T>);
    const Range all{0, asked.rows};
    for (int i = 0; i < asked.repeats; ++i) {
      seconds.push_back(seconds_of([&] {
        engine.kernels().fill(recipe, *loaded, all, *loaded, all, true, {&out, 1}, [](Index) {});
        return 0;
      }));
    }
    const EngineMatrix unit = algebra.hold(MatrixView<const T>(x.view()));
    EngineMatrix product = algebra.allocate(asked.rows, asked.rows, precision_of<T>);
    std::vector<double> products;
    for (int i = 0; i < asked.repeats; ++i) {
      products.push_back(seconds_of([&] {
        algebra.product(1, Transpose::no, unit, Transpose::yes, unit, 0, product);
        return 0;
      }));
    }
    fmt::print(
        "{} depth {:>2}: {:.2f} ms (best {:.2f}), whole product by cuBLAS {:.2f} ms, ratio {:.2f}; error {:.1e}{}\n",
        to_string(precision_of<T>), depth, 1e3 * median(seconds),
        1e3 * *std::min_element(seconds.begin(), seconds.end()), 1e3 * median(products),
        median(seconds) / median(products), error, error <= tolerance<T> ? "" : " ANSWERS DIFFER");
  }
  return agree;
}

template <typename Work>
double timed(const Work& work) {
  return seconds_of([&] {
    work();
    return 0;
  });
}

/// Times ridge from samples to coefficients in float64 with ten outputs. CUDA loads each routine with its first call,
/// so a small problem runs first.
bool ridge(const Asked& asked, const Matrix<double>& inputs, const Engine& engine) {
  constexpr Index outputs = 10;
  const SampleView samples(inputs.view(), Shape{1, 1, asked.cols});
  const Network network = network_of(1);
  Matrix<double> targets(asked.rows, outputs);
  for (Index i = 0; i < asked.rows; ++i) targets(i, (i * 7) % outputs) = 1;
  const RidgeOptions options{.lambda = 1e-2};
  const GramOptions kernel{.kind = Kind::ntk, .precision = Precision::f64};
  const Index few = std::min<Index>(3000, asked.rows);
  (void)fit_ridge(gram_matrix(network, samples.part(0, few), kernel, engine), targets.view().block(0, 0, few, outputs),
                  options);

  double filled = 0;
  Fit fit;
  const double whole = timed([&] {
    std::optional<GramMatrix> k;
    filled = timed([&] { k = gram_matrix(network, samples, kernel, engine); });
    fit = fit_ridge(*k, targets.view(), options);
  });
  const Algebra& algebra = engine.algebra();
  std::optional<GramMatrix> k = gram_matrix(network, samples, kernel, engine);
  const Recipe recipe = lower(network, samples.shape, RecipeOutputs::ntk);
  const double loading = timed([&] { (void)engine.kernels().load(recipe, samples, Precision::f64, [](Index) {}); });
  Matrix<double> product(asked.rows, outputs);
  const double precise =
      timed([&] { algebra.multiply_precisely(k->matrix(), targets.view(), product.view(), nullptr); });
  const double checked = timed([&] { (void)algebra.symmetry(k->matrix(), 1e-12); });
  EngineMatrix factor = algebra.allocate(asked.rows, asked.rows, Precision::f64);
  const std::vector<double> shift(usize(asked.rows), options.lambda / 2);
  double norm = 0;
  const double copied = timed([&] { norm = algebra.scaled(k->matrix(), {}, shift, factor, nullptr); });
  Index failed = 0;
  const double factored = timed([&] { failed = algebra.cholesky(factor, nullptr); });
  const double solved = timed([&] { algebra.solve_factored(factor, product.view()); });
  const double condition = timed([&] { (void)algebra.condition(factor, norm); });
  fmt::print(
      "ridge, n = {}, d = {}, f64, {} outputs: {:.3f} s (kernel with loading {:.3f} s); our Cholesky alone {:.3f} s, "
      "ratio {:.2f}; cuSOLVER's alone is timed by bench/peers/cusolver_potrf.py\n",
      asked.rows, asked.cols, outputs, whole, filled, factored, whole / factored);
  fmt::print(
      "  alone: loading {:.3f} s, symmetry {:.3f} s, scaled copy {:.3f} s, solution {:.3f} s, condition {:.3f} s, "
      "precise product {:.3f} s\n",
      loading, checked, copied, solved, condition, precise);
  fmt::print("  {}, {}; residual {:.1e}, duality gap {:.1e}, condition {:.1e}\n", text(fit.summary.ending),
             fit.summary.method, fit.summary.gradient.value_or(0), fit.summary.gap.value_or(0),
             fit.summary.condition.value_or(0));
  return failed == 0 && fit.summary.ending == Ending::converged;
}

int start(int argc, char** argv) {
  Asked asked;
  CLI::App app("kernels, machines, certificates and networks of finite width on an NVIDIA device");
  app.add_option(
         "work", asked.work,
         "dense, planes, graphs, ridge, cg (products of a kernel that is not stored), svm, certificates, train, "
         "ntk or host (to host memory)")
      ->check(
          CLI::IsMember({"dense", "planes", "graphs", "ridge", "cg", "svm", "certificates", "train", "ntk", "host"}))
      ->capture_default_str();
  app.add_option("--network", asked.network, "planes: one of the listed networks; certificates: any network");
  app.add_option("--backend", asked.backend)->capture_default_str();
  app.add_option("--rows", asked.given_rows, "20,000; train: 128, ntk: 2,048")->check(CLI::Range(2, 200'000));
  app.add_option("--cols", asked.cols)->check(CLI::Range(1, 100'000))->capture_default_str();
  app.add_option("--width", asked.width, "train: 10,000, ntk: 2,048; certificates: only trained networks of this width")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--python", asked.python, "ntk: Python interpreter with PyTorch, for the peer");
  app.add_option("--peers", asked.peers, "ntk: folder of the peer's script")->capture_default_str();
  app.add_option("--repeats", asked.repeats)->check(CLI::Range(1, 1000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    const auto engine = make_engine(asked.backend);
    fmt::print("{}: {}\n", engine->name(), engine->description());
    if (asked.work == "train") {
      const FiniteSizes sizes{asked.given_rows.value_or(128), asked.cols, asked.width.value_or(10'000), asked.repeats};
      return training_steps(*engine, sizes) ? 0 : 1;
    }
    if (asked.work == "ntk") {
      const FiniteSizes sizes{asked.given_rows.value_or(2048), asked.cols, asked.width.value_or(2048), asked.repeats};
      return empirical_kernels(*engine, sizes, asked.python, asked.peers) ? 0 : 1;
    }
    asked.rows = asked.given_rows.value_or(asked.rows);
    if (asked.work == "planes") return planes(*engine, asked.network, asked.repeats) ? 0 : 1;
    if (asked.work == "certificates") {
      CertificateSizes sizes{.repeats = asked.repeats};
      if (asked.given_rows) sizes = {asked.rows, std::max<Index>(1, asked.rows / 6), 8, asked.repeats};
      sizes.width = asked.width;
      return certificates(*engine, asked.network, sizes) ? 0 : 1;
    }
    if (asked.work == "graphs") return graphs(*engine, asked.rows, asked.repeats) ? 0 : 1;
    if (asked.work == "cg") return stored_nowhere(*engine, asked.rows, asked.cols, asked.repeats) ? 0 : 1;
    if (asked.work == "svm") return support_vectors(*engine, asked.rows) ? 0 : 1;
    const Matrix<double> inputs = normal_inputs(asked.rows, asked.cols);
    if (asked.work == "ridge") return ridge(asked, inputs, *engine) ? 0 : 1;
    if (asked.work == "host") return host_gram(inputs, asked.repeats, *engine) ? 0 : 1;
    const bool single = dense<float>(asked, inputs, *engine);
    const bool twice = dense<double>(asked, inputs, *engine);
    return single && twice ? 0 : 1;
  } catch (const Error& error) {
    // A missing device is not an error: there is nothing to measure.
    const bool absent = error.code() == Code::usage;
    fmt::print(absent ? stdout : stderr, "{}{}\n", absent ? "skipped: " : "", error.what());
    return absent ? 0 : 1;
  }
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) { return widelimit::bench::start(argc, argv); }
