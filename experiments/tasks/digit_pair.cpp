#include "experiments/tasks/digit_pair.hpp"

#include "widelimit/base/error.hpp"

#include <fmt/format.h>

namespace widelimit::experiment {

std::vector<std::string> two_digits(const Setting& setting) {
  std::vector<std::string> digits;
  for (const double digit : setting.numbers("digits", 0, 9)) digits.push_back(fmt::format("{:g}", digit));
  if (digits.size() != 2) fail(Code::usage, "--digits {}: expected two digits", setting.text("digits"));
  return digits;
}

DigitPair digit_pair(const Setting& setting, Index samples, Index tests) {
  DataRequest request{.train = "mnist:train"};
  if (tests > 0) {
    request.test = "mnist:test";
    request.test_limit = tests;
  }
  request.classes = {"0", "1"};
  request.limit = samples;
  request.scale = Scaling::byte;
  request.memory = setting.memory;
  request.progress = setting.progress;
  DigitPair pair{.data = load_train_test(request), .targets = {}};
  pair.targets = network_targets(pair.data, Loss{.kind = LossKind::hinge});
  return pair;
}

EquivalenceOptions digit_options(const Setting& setting, const DigitPair& pair, double mean_rate) {
  EquivalenceOptions options;
  TrainOptions& train = options.train;
  train.loss.kind = LossKind::hinge;
  train.regulariser = Regulariser::init;
  train.lambda = setting.positive("lambda");
  train.rate = mean_rate / static_cast<double>(pair.data.train.count());
  train.steps = setting.count("steps", 1);
  train.seed = setting.seed;
  train.precision = setting.precision;
  train.memory = setting.memory;
  train.progress = setting.progress;
  options.widths = setting.counts("widths", 1);
  options.seeds = setting.count("seeds", 1);
  return options;
}

Equivalence compare_digits(const Setting& setting, const DigitPair& pair, const std::string& network,
                           const EquivalenceOptions& options) {
  stop_if_asked(setting.progress);
  return equivalence(Network::parse(network), pair.targets.with(pair.data), options, setting.engine);
}

void tell_fit(nlohmann::ordered_json& json, const std::optional<LineFit>& fit) {
  if (!fit) return;
  json["slope"] = fit->slope;
  if (fit->interval) json["interval"] = {fit->interval->first, fit->interval->second};
}

}  // namespace widelimit::experiment
