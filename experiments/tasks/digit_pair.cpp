#include "experiments/tasks/digit_pair.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/preparation/preprocess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace widelimit::experiment {

std::vector<std::string> two_digits(const Setting& setting) {
  std::vector<std::string> digits;
  for (const double digit : setting.numbers("digits", 0, 9)) digits.push_back(fmt::format("{:g}", digit));
  if (digits.size() != 2) fail(Code::usage, "--digits {}: expected two digits", setting.text("digits"));
  return digits;
}

DigitSamples digit_samples(const Setting& setting, Index samples, Index tests) {
  DataRequest request{.train = "digits"};
  request.classes = two_digits(setting);
  const Dataset all = setting.load(request).train;
  std::array<std::vector<Index>, 2> of;
  for (Index i = 0; i < all.count(); ++i) of[usize(all.labels[usize(i)])].push_back(i);
  const Index required = samples + tests;
  const Index available = 2 * std::min(std::ssize(of[0]), std::ssize(of[1]));
  if (required > available) {
    fail(Code::usage, "--samples {} --tests {}: there are only {} digits, half of either class", samples, tests,
         available);
  }
  std::vector<Index> rows;
  for (Index i = 0; i < required; ++i) rows.push_back(of[usize(i % 2)][usize(i / 2)]);
  DigitSamples result;
  result.data.train = take_rows(all, std::span(rows).first(usize(samples)));
  const Scaler scaler(Scaling::standard, result.data.train);
  scaler.apply(result.data.train);
  if (tests > 0) {
    result.data.test = take_rows(all, std::span(rows).subspan(usize(samples)));
    scaler.apply(*result.data.test);
  }
  for (const Index label : result.data.train.labels) result.y.push_back(label == 1 ? 1 : -1);
  return result;
}

TrainTest first_two_classes(const Setting& setting, const std::string& set, Scaling scale, Index samples, Index tests) {
  DataRequest request{.train = set + ":train"};
  if (tests > 0) {
    request.test = set + ":test";
    request.test_limit = tests;
  }
  request.classes = {"0", "1"};
  request.limit = samples;
  request.scale = scale;
  return setting.load(request);
}

DigitPair digit_pair(const Setting& setting, Index samples, Index tests) {
  DigitPair pair{.data = first_two_classes(setting, "mnist", Scaling::byte, samples, tests), .targets = {}};
  pair.targets = network_targets(pair.data, Loss{.kind = LossKind::hinge});
  return pair;
}

EquivalenceOptions digit_options(const Setting& setting, const DigitPair& pair, double mean_rate) {
  EquivalenceOptions options;
  options.train = setting.training();
  TrainOptions& train = options.train;
  train.loss.kind = LossKind::hinge;
  train.regulariser = Regulariser::init;
  train.lambda = setting.positive("lambda");
  train.rate = mean_rate / static_cast<double>(pair.data.train.count());
  train.steps = setting.count("steps", 1);
  options.widths = setting.counts("widths", 1);
  options.seeds = setting.count("seeds", 1);
  return options;
}

Equivalence compare_digits(const Setting& setting, const DigitPair& pair, const std::string& network,
                           const EquivalenceOptions& options) {
  stop_if_requested(setting.progress);
  return equivalence(Network::parse(network), pair.targets.with(pair.data), options, setting.engine);
}

}  // namespace widelimit::experiment
