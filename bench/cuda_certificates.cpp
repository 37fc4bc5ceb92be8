// Certificates on an NVIDIA device compared with those of the CPU, with the tangent kernels of EQ's network, of one
// with biases and of one with frozen layers, and for EQ's network itself at finite width. Radii are compared first; a
// method whose radii differ is not timed.

#include "bench/cuda.hpp"

#include "bench/measure.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/certificate/network/network_certificate.hpp"
#include "widelimit/certificate/statistics.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace widelimit::bench {
namespace {

/// All but the first are enclosed layer by layer.
constexpr std::string_view networks[] = {"eq2", "fc:2(b_std=0.1)", "fc:2(frozen=2)"};

/// Two classes of synthetic images: class-specific strokes in [0, 1], plus noise.
Dataset drawn(Index count, std::uint64_t seed) {
  const Shape shape{28, 28, 1};
  Matrix<double> x(count, shape.size());
  const Random random(seed), strokes(7);
  Dataset data{.name = "drawn", .shape = shape, .class_names = {"0", "1"}};
  for (Index i = 0; i < count; ++i) {
    const Index label = i % 2;
    data.labels.push_back(label);
    for (Index j = 0; j < shape.size(); ++j) {
      const auto place = static_cast<std::uint64_t>(j);
      // A border that is 0 in every image, strokes common to both classes, and strokes that distinguish them.
      const bool border = j % 28 < 3 || j % 28 > 24 || j / 28 < 3 || j / 28 > 24;
      const double ink = strokes.uniform(place) < 0.2 ? 1 : 0, own = strokes.uniform(10'000 + place) < 0.5 ? 1 : 0;
      const double mean = 0.5 * ink + (own == static_cast<double>(label) ? 0.15 : 0);
      const double noise = 0.2 * random.normal(static_cast<std::uint64_t>(i) * 1024 + place);
      x(i, j) = border ? 0 : std::clamp(mean + noise, 0.0, 1.0);
    }
  }
  data.values = std::move(x);
  return data;
}

struct Digits {
  Dataset train, test;
};

Digits digits(const CertificateSizes& sizes) {
  try {
    DataRequest request{.train = "mnist:train", .test = "mnist:test"};
    request.classes = {"0", "1"};
    request.limit = sizes.train;
    request.scale = Scaling::byte;
    TrainTest data = load_train_test(request);
    return {std::move(data.train), std::move(*data.test)};
  } catch (const Error& error) {
    if (error.code() != Code::input) throw;
    return {drawn(sizes.train, 1), drawn(sizes.tests, 2)};
  }
}

Model fitted(std::string_view network, const Digits& data, const Engine& engine) {
  const MachineOptions options{.machine = Machine::ridge, .lambda = 1};
  const GramMatrix k =
      gram_matrix(Network::parse(network), data.train.view(), {.kind = Kind::ntk, .precision = Precision::f64}, engine);
  const FittedMachine trained = train_classes(k, data.train.labels, 2, options);
  if (!trained.fit.summary.converged()) fail(Code::numerical, "{}", trained.fit.summary.message);
  return fitted_model(Network::parse(network), data.train, trained, options.lambda);
}

struct Case {
  const char* name;
  CertificateMethod method;
  bool boxed = false;
  Norm norm = Norm::linf;
  bool attacked = false;
  bool costly = false;  ///< run on few points, as are all methods with other networks
};

constexpr Case cases[] = {
    {"paper", CertificateMethod::paper},
    {"interval", CertificateMethod::interval},
    {"interval, box", CertificateMethod::interval, true},
    {"interval, l2", CertificateMethod::interval, false, Norm::l2},
    {"interval, attack", CertificateMethod::interval, false, Norm::linf, true, true},
    {"convex", CertificateMethod::convex, false, Norm::linf, false, true},
    {"convex, box", CertificateMethod::convex, true, Norm::linf, false, true},
    {"convex, l2", CertificateMethod::convex, false, Norm::l2, false, true},
};

/// Largest difference of radii, relative to the larger of each two.
double largest_difference(const Certificates& here, const Certificates& there) {
  double difference = 0;
  for (std::size_t k = 0; k < here.radius.size(); ++k) {
    const double largest = std::max(here.radius[k], there.radius[k]);
    if (largest > 0) difference = std::max(difference, std::abs(here.radius[k] - there.radius[k]) / largest);
  }
  return difference;
}

/// Returns false if radii differ.
bool compare(std::string_view network, const Digits& data, const Engine& engine, const Engine& processor,
             const CertificateSizes& sizes) {
  const Model model = fitted(network, data, engine);
  const Index tests = std::min(sizes.tests, data.test.count());
  fmt::print(
      "Certificates of ridge with {} on {}: {} training and {} test points; compared with {} threads of the CPU; "
      "medians of {}\n",
      network, data.train.name, model.supports(), tests, processor.threads(), sizes.repeats);
  fmt::print("{:>18} {:>7} {:>12} {:>10} {:>10} {:>10} {:>8} {:>20}\n", "method", "points", "mean radius", "cpu s",
             "device s", "in blocks", "ratio", "largest difference");
  bool agree = true;
  for (const Case& one : cases) {
    if (one.method == CertificateMethod::paper && network != networks[0]) continue;
    CertifyOptions options{.norm = one.norm, .method = one.method};
    if (one.boxed) options.box = Box{};
    if (one.attacked) options.attack = AttackOptions{};
    const bool costly = one.costly || network != networks[0];
    const Index count = costly ? std::min(tests, sizes.convex_tests) : tests;
    const auto certified = [&](const Engine& on) {
      return certify(model, data.test.view().part(0, count), std::span(data.test.labels).first(usize(count)), options,
                     on);
    };
    const Certificates there = certified(processor);
    const double difference = largest_difference(certified(engine), there);
    // One step of the radius grid; a few for `convex`, whose squares the CPU sums in float32.
    const double allowed = (one.method == CertificateMethod::convex ? 8 : 1.001) * options.tolerance;
    if (!(difference <= allowed)) {
      fmt::print("{:>18} RESULTS DIFFER by a relative {:.1e}; not timed\n", one.name, difference);
      agree = false;
      continue;
    }
    double blocks = 0;  // the rest of the time is spent copying and measuring the support
    const auto device = [&] {
      return seconds_of([&] {
        Certificates found = certified(engine);
        blocks = found.seconds + found.attack_seconds;
        return found;
      });
    };
    const auto seconds = medians_in_turn({[&] { return seconds_of([&] { return certified(processor); }); }, device},
                                         costly ? 1 : sizes.repeats);
    fmt::print("{:>18} {:>7} {:>12.5g} {:>10.4f} {:>10.4f} {:>10.4f} {:>7.1f}x {:>20.1e}\n", one.name, count,
               statistics(there).mean, seconds[0], seconds[1], blocks, seconds[0] / seconds[1], difference);
  }
  return agree;
}

TrainedNetwork trained_network(const Digits& data, Index width, bool centred, const Engine& engine) {
  Matrix<double> signs(data.train.count(), 1);
  for (Index i = 0; i < signs.rows(); ++i) signs(i, 0) = data.train.labels[usize(i)] == 1 ? 1 : -1;
  TrainOptions options;
  options.width = width;
  options.loss.kind = LossKind::hinge;
  options.rate = 50 / static_cast<double>(data.train.count());
  options.batch = std::min<Index>(64, data.train.count());
  options.steps = 100;
  options.centred = centred;
  options.precision = Precision::f32;
  options.keep_record = false;
  return train(Network::parse("eq2"), {.x = data.train.view(), .y = signs.view()}, options, engine);
}

struct NetworkCase {
  const char* name;
  bool centred = false;
  bool boxed = false;
  Norm norm = Norm::linf;
  bool attacked = false;
};
constexpr NetworkCase network_cases[] = {{"linf"},
                                         {"linf, box", false, true},
                                         {"l2", false, false, Norm::l2},
                                         {"f - f0", true},
                                         {"linf, attack", false, false, Norm::linf, true}};

/// Certifies EQ's network after a hundred steps, by intervals. Returns false if radii differ.
bool compare_networks(Index width, const Digits& data, const Engine& engine, const Engine& processor,
                      const CertificateSizes& sizes) {
  const Index tests = std::min(sizes.tests, data.test.count());
  fmt::print(
      "Certificates of a network of width {} on {}; compared with {} threads of the CPU; one run each after a first "
      "one\n",
      width, data.train.name, processor.threads());
  fmt::print("{:>18} {:>7} {:>12} {:>10} {:>10} {:>8} {:>20}\n", "ball", "points", "mean radius", "cpu s", "device s",
             "ratio", "largest difference");
  bool agree = true;
  for (const NetworkCase& one : network_cases) {
    const TrainedNetwork trained = trained_network(data, width, one.centred, engine);
    CertifyOptions options{.norm = one.norm, .method = CertificateMethod::interval, .tolerance = 1e-4};
    if (one.boxed) options.box = Box{};
    if (one.attacked) options.attack = AttackOptions{};
    const Index count = one.boxed || one.attacked ? std::min(tests, sizes.convex_tests) : tests;
    const auto certified = [&](const Engine& on) {
      return certify_network(trained, data.test.view().part(0, count), std::span(data.test.labels).first(usize(count)),
                             options, on);
    };
    const Certificates there = certified(processor);
    const double difference = largest_difference(certified(engine), there);
    if (!(difference <= 1.001 * options.tolerance)) {
      fmt::print("{:>18} RESULTS DIFFER by a relative {:.1e}; not timed\n", one.name, difference);
      agree = false;
      continue;
    }
    const double device = seconds_of([&] { return certified(engine); });
    const double host = there.seconds + there.attack_seconds;
    fmt::print("{:>18} {:>7} {:>12.5g} {:>10.4f} {:>10.4f} {:>7.1f}x {:>20.1e}\n", one.name, count,
               statistics(there).mean, host, device, host / device, difference);
  }
  return agree;
}

}  // namespace

bool certificates(const Engine& engine, const std::string& only, const CertificateSizes& sizes) {
  const Digits data = digits(sizes);
  const auto processor = make_engine("cpu");
  if (sizes.width) return compare_networks(*sizes.width, data, engine, *processor, sizes);
  if (!only.empty()) return compare(only, data, engine, *processor, sizes);
  bool agree = true;
  for (const Index width : {Index{1000}, Index{100'000}}) {
    agree = compare_networks(width, data, engine, *processor, sizes) && agree;
  }
  for (const std::string_view network : networks) agree = compare(network, data, engine, *processor, sizes) && agree;
  return agree;
}

}  // namespace widelimit::bench
