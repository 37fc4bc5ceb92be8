// Support vector machines of ten classes, one against one with bias, for seven values of C on the
// precomputed NTK of MNIST, on two CPU cores, compared with scikit-learn's SVC.

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/multiclass.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

namespace widelimit::bench {
namespace {

constexpr Index classes = 10;
constexpr Index pairs = classes * (classes - 1) / 2;
constexpr double target = 6;
/// Default tolerance of LIBSVM; a second one is chosen so that its objectives are as good as ours.
constexpr double default_tol = 1e-3;

std::vector<double> costs() { return {1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4}; }

struct Digits {
  Matrix<double> gram;
  std::vector<Index> labels;
};

/// Returns the first `rows` training digits in file order, with values in [0, 1].
std::optional<Digits> digits(Index rows, const Engine& engine) {
  std::optional<Dataset> data;
  try {
    data = load_data("mnist:train");
  } catch (const Error& error) {
    fmt::print("skipped: {}\n", error.what());
    return std::nullopt;
  }
  const auto& images = std::get<Matrix<float>>(data->values);
  Matrix<double> x(rows, images.cols());
  std::transform(images.data(), images.data() + rows * images.cols(), x.data(),
                 [](float value) { return static_cast<double>(value) / 255; });
  const Network network = Network::parse(fmt::format("fc:3(w_std={})", std::sqrt(2.0)));
  Gram kernel = gram(network, SampleView(x.view(), Shape{1, 1, x.cols()}), {}, engine);
  return Digits{std::move(std::get<Matrix<double>>(kernel.ntk)), {data->labels.begin(), data->labels.begin() + rows}};
}

/// Σ|α| − ½αᵀKα of each pair, computed from the coefficients.
Matrix<double> dual_objectives(const Digits& data, const std::vector<Fit>& path) {
  Matrix<double> objectives(std::ssize(path), pairs);
  for (std::size_t c = 0; c < path.size(); ++c) {
    for (Index p = 0; p < pairs; ++p) {
      std::vector<Index> support;
      for (Index i = 0; i < data.gram.rows(); ++i) {
        if (path[c].alpha(i, p) != 0) support.push_back(i);
      }
      double sum = 0;
      for (const Index i : support) {
        const double a = path[c].alpha(i, p);
        sum += std::abs(a);
        for (const Index j : support) sum -= a * data.gram(i, j) * path[c].alpha(j, p) / 2;
      }
      objectives(static_cast<Index>(c), p) = sum;
    }
  }
  return objectives;
}

/// Largest (ours − theirs)/ours and (theirs − ours)/ours: relative differences of the objectives by sign.
std::pair<double, double> objective_deficits(const Matrix<double>& ours, const Matrix<double>& theirs) {
  double theirs_below = 0;
  double ours_below = 0;
  for (Index i = 0; i < ours.rows() * ours.cols(); ++i) {
    const double relative = (ours.data()[i] - theirs.data()[i]) / ours.data()[i];
    theirs_below = std::max(theirs_below, relative);
    ours_below = std::max(ours_below, -relative);
  }
  return {theirs_below, ours_below};
}

bool run(const Benchmark& benchmark) {
  const Settings& settings = benchmark.settings;
  const auto data = digits(settings.rows, benchmark.engine);
  if (!data) return true;
  std::vector<double> lambdas;
  for (const double c : costs()) lambdas.push_back(1 / c);
  // The kernel of a network is positive semi-definite; SVC does not check it either.
  const SvmOptions options{.bias = true, .check_definite = false};
  const auto fit = [&] {
    return one_vs_one_path({data->gram.view(), benchmark.engine}, data->labels, classes, lambdas, options);
  };

  fmt::print("SVM, MNIST {}, {} pairs, {} values of C, fc:3 NTK precomputed; medians of {} rounds, milliseconds\n",
             settings.rows, pairs, lambdas.size(), settings.repeats);
  const auto path = fit();
  const Matrix<double> ours = dual_objectives(*data, path);
  double gap = 0;
  Index steps = 0;
  for (const Fit& machine : path) {
    gap = std::max(gap, machine.summary.gap.value_or(1));
    steps += machine.summary.iterations;
  }
  if (!(gap <= options.tolerance)) {
    fmt::print("NOT CONVERGED: relative duality gap {:.1e}; not timed\n", gap);
    return false;
  }

  write_raw(benchmark.scratch / "gram", data->gram);
  Matrix<double> labels(settings.rows, 1);
  std::copy(data->labels.begin(), data->labels.end(), labels.data());
  write_raw(benchmark.scratch / "labels", labels);
  Peer peer({settings.with_peer ? numpy_python() : "", peer_script("sk_svm.py"), "--gram",
             (benchmark.scratch / "gram").string(), "--labels", (benchmark.scratch / "labels").string(), "--costs",
             fmt::format("{}", fmt::join(costs(), ","))},
            benchmark.scratch / "log");
  if (!peer.present()) fmt::print("no scikit-learn ({})\n", peer.why_absent());
  const auto seconds_ours = [&] { return seconds_of(fit); };
  std::vector<std::function<double()>> clocks{seconds_ours};
  // SVC stops by KKT violation, ours by duality gap: tighten SVC's tolerance until its objectives are within 1e-6 of
  // ours.
  double tol = default_tol;
  double deficit = 0;
  double default_deficit = 0;
  if (peer.present()) {
    for (;; tol /= 10) {
      peer.request(fmt::format("compute {} {}", tol, (benchmark.scratch / "objectives").string()));
      const auto theirs = read_raw<double>(benchmark.scratch / "objectives", std::ssize(lambdas), pairs);
      const auto [theirs_below, ours_below] = objective_deficits(ours, theirs);
      if (ours_below > 1e-6 || (theirs_below > 1e-6 && tol < 1e-7)) {
        fmt::print("RESULTS DIFFER: ours {:.1e} below, theirs {:.1e} below; not timed\n", ours_below, theirs_below);
        return false;
      }
      if (tol == default_tol) default_deficit = theirs_below;
      deficit = theirs_below;
      if (theirs_below <= 1e-6) break;
    }
    clocks.push_back([&] { return std::stod(peer.request(fmt::format("time {}", default_tol))); });
    clocks.push_back([&] { return std::stod(peer.request(fmt::format("time {}", tol))); });
  }
  const auto seconds = medians_in_turn(clocks, settings.repeats);
  fmt::print("widelimit {:.1f} (largest gap {:.1e}, {} steps)\n", 1e3 * seconds[0], gap, steps);
  if (peer.present()) {
    fmt::print("SVC, tol {:g}: {:.1f}, {:.1f}x, {}; objectives up to {:.1e} worse\n", default_tol, 1e3 * seconds[1],
               seconds[1] / seconds[0], verdict_at_least(seconds[1] / seconds[0], target), default_deficit);
    fmt::print("SVC, tol {:g}: {:.1f}, {:.1f}x, {}; objectives up to {:.1e} worse\n", tol, 1e3 * seconds[2],
               seconds[2] / seconds[0], verdict_at_least(seconds[2] / seconds[0], target), deficit);
  }
  return true;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv, "Grid of one-against-one SVMs, compared with SVC of scikit-learn",
                                         {.rows = 5000}, widelimit::bench::run);
}
