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

struct Arguments {
  std::string backend = "cuda:0";
  std::string benchmark = "dense";
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
bool dense(const Arguments& arguments, const Matrix<double>& inputs, const Engine& engine) {
  const Matrix<T> x = converted<T>(inputs);
  const SampleView samples(x.view(), Shape{1, 1, arguments.cols});
  const Index few = std::min(compared, arguments.rows);
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
    const EngineMatrix out = algebra.allocate(arguments.rows, arguments.rows, precision_of<T>);
    const Range all{0, arguments.rows};
    for (int i = 0; i < arguments.repeats; ++i) {
      seconds.push_back(seconds_of([&] {
        engine.kernels().fill(recipe, *loaded, all, *loaded, all, true, {&out, 1}, [](Index) {});
        return 0;
      }));
    }
    const EngineMatrix unit = algebra.hold(MatrixView<const T>(x.view()));
    EngineMatrix product = algebra.allocate(arguments.rows, arguments.rows, precision_of<T>);
    std::vector<double> products;
    for (int i = 0; i < arguments.repeats; ++i) {
      products.push_back(seconds_of([&] {
        algebra.product(1, Transpose::no, unit, Transpose::yes, unit, 0, product);
        return 0;
      }));
    }
    fmt::print(
        "{} depth {:>2}: {:.2f} ms (best {:.2f}), whole product by cuBLAS {:.2f} ms, ratio {:.2f}; error {:.1e}{}\n",
        to_string(precision_of<T>), depth, 1e3 * median(seconds),
        1e3 * *std::min_element(seconds.begin(), seconds.end()), 1e3 * median(products),
        median(seconds) / median(products), error, error <= tolerance<T> ? "" : " RESULTS DIFFER");
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
bool ridge(const Arguments& arguments, const Matrix<double>& inputs, const Engine& engine) {
  constexpr Index outputs = 10;
  const SampleView samples(inputs.view(), Shape{1, 1, arguments.cols});
  const Network network = network_of(1);
  Matrix<double> targets(arguments.rows, outputs);
  for (Index i = 0; i < arguments.rows; ++i) targets(i, (i * 7) % outputs) = 1;
  const RidgeOptions options{.lambda = 1e-2};
  const GramOptions kernel{.kind = Kind::ntk, .precision = Precision::f64};
  const Index few = std::min<Index>(3000, arguments.rows);
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
  Matrix<double> product(arguments.rows, outputs);
  const double precise =
      timed([&] { algebra.multiply_precisely(k->matrix(), targets.view(), product.view(), nullptr); });
  const double checked = timed([&] { (void)algebra.symmetry(k->matrix(), 1e-12); });
  EngineMatrix factor = algebra.allocate(arguments.rows, arguments.rows, Precision::f64);
  const std::vector<double> shift(usize(arguments.rows), options.lambda / 2);
  double norm = 0;
  const double copied = timed([&] { norm = algebra.scaled(k->matrix(), {}, shift, factor, nullptr); });
  Index failed = 0;
  const double factored = timed([&] { failed = algebra.cholesky(factor, nullptr); });
  const double solved = timed([&] { algebra.solve_factored(factor, product.view()); });
  const double condition = timed([&] { (void)algebra.condition(factor, norm); });
  fmt::print(
      "ridge, n = {}, d = {}, f64, {} outputs: {:.3f} s (kernel with loading {:.3f} s); our Cholesky alone {:.3f} s, "
      "ratio {:.2f}; cuSOLVER's alone is timed by bench/peers/cusolver_potrf.py\n",
      arguments.rows, arguments.cols, outputs, whole, filled, factored, whole / factored);
  fmt::print(
      "  alone: loading {:.3f} s, symmetry {:.3f} s, scaled copy {:.3f} s, solution {:.3f} s, condition {:.3f} s, "
      "precise product "
      "{:.3f} s\n",
      loading, checked, copied, solved, condition, precise);
  fmt::print("  {}, {}; residual {:.1e}, duality gap {:.1e}, condition {:.1e}\n", text(fit.summary.ending),
             fit.summary.method, fit.summary.gradient.value_or(0), fit.summary.gap.value_or(0),
             fit.summary.condition.value_or(0));
  return failed == 0 && fit.summary.ending == Ending::converged;
}

/// Returns why the back end is a device of a machine without devices, which is not an error: there is nothing to
/// measure.
std::string absence(const std::string& backend) {
  check_engine_name(backend);
  for (const EnginePresence& entry : list_engines()) {
    if (backend.starts_with(entry.name) && entry.name == "cuda" && !entry.present) return entry.detail;
  }
  return {};
}

int start(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("kernels, machines, certificates and networks of finite width on an NVIDIA device");
  app.add_option(
         "work", arguments.benchmark,
         "dense, planes, graphs, ridge, cg (products of a kernel that is not stored), svm, certificates, train, "
         "ntk or host (to host memory)")
      ->check(
          CLI::IsMember({"dense", "planes", "graphs", "ridge", "cg", "svm", "certificates", "train", "ntk", "host"}))
      ->capture_default_str();
  app.add_option("--network", arguments.network, "planes: one of the listed networks; certificates: any network");
  app.add_option("--backend", arguments.backend)->capture_default_str();
  app.add_option("--rows", arguments.given_rows, "20,000; train: 128, ntk: 2,048")->check(CLI::Range(2, 200'000));
  app.add_option("--cols", arguments.cols)->check(CLI::Range(1, 100'000))->capture_default_str();
  app.add_option("--width", arguments.width,
                 "train: 10,000, ntk: 2,048; certificates: only trained networks of this width")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--python", arguments.python, "ntk: Python interpreter with PyTorch, for the peer");
  app.add_option("--peers", arguments.peers, "ntk: folder of the peer's script")->take_last()->capture_default_str();
  app.add_option("--repeats", arguments.repeats)->check(CLI::Range(1, 1000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    if (const std::string reason = absence(arguments.backend); !reason.empty()) {
      fmt::print("skipped: {}\n", reason);
      return 0;
    }
    const auto engine = make_engine(arguments.backend);
    fmt::print("{}: {}\n", engine->name(), engine->description());
    if (arguments.benchmark == "train") {
      const FiniteSizes sizes{arguments.given_rows.value_or(128), arguments.cols, arguments.width.value_or(10'000),
                              arguments.repeats};
      return training_steps(*engine, sizes) ? 0 : 1;
    }
    if (arguments.benchmark == "ntk") {
      const FiniteSizes sizes{arguments.given_rows.value_or(2048), arguments.cols, arguments.width.value_or(2048),
                              arguments.repeats};
      return empirical_kernels(*engine, sizes, arguments.python, arguments.peers) ? 0 : 1;
    }
    arguments.rows = arguments.given_rows.value_or(arguments.rows);
    if (arguments.benchmark == "planes") return planes(*engine, arguments.network, arguments.repeats) ? 0 : 1;
    if (arguments.benchmark == "certificates") {
      CertificateSizes sizes{.repeats = arguments.repeats};
      if (arguments.given_rows) sizes = {arguments.rows, std::max<Index>(1, arguments.rows / 6), 8, arguments.repeats};
      sizes.width = arguments.width;
      return certificates(*engine, arguments.network, sizes) ? 0 : 1;
    }
    if (arguments.benchmark == "graphs") return graphs(*engine, arguments.rows, arguments.repeats) ? 0 : 1;
    if (arguments.benchmark == "cg")
      return unstored_product(*engine, arguments.rows, arguments.cols, arguments.repeats) ? 0 : 1;
    if (arguments.benchmark == "svm") return support_vectors(*engine, arguments.rows) ? 0 : 1;
    const Matrix<double> inputs = normal_inputs(arguments.rows, arguments.cols);
    if (arguments.benchmark == "ridge") return ridge(arguments, inputs, *engine) ? 0 : 1;
    if (arguments.benchmark == "host") return host_gram(inputs, arguments.repeats, *engine) ? 0 : 1;
    const bool single = dense<float>(arguments, inputs, *engine);
    const bool twice = dense<double>(arguments, inputs, *engine);
    return single && twice ? 0 : 1;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) { return widelimit::bench::start(argc, argv); }
