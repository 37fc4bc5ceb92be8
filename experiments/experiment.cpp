#include "experiments/experiment.hpp"

#include "experiments/experiments.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/train.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace widelimit::experiment {

namespace {

template <typename Number>
std::optional<Number> parsed(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::vector<std::string> between_commas(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// Parses comma-separated numbers, at least one; returns std::nullopt if one of them is not a number.
template <typename Number>
std::optional<std::vector<Number>> parsed_list(const std::string& text) {
  std::vector<Number> values;
  for (const std::string& word : between_commas(text)) {
    const auto value = parsed<Number>(word);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

}  // namespace

std::string counted(Index count, std::string_view unit) {
  return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

const std::string& Setting::text(const std::string& option) const { return values.at(option); }

std::vector<std::string> Setting::words(const std::string& option) const { return between_commas(text(option)); }

Index Setting::count(const std::string& option, Index least) const {
  const auto value = parsed<Index>(text(option));
  if (!value || *value < least) {
    fail(Code::usage, "--{} {}: expected a whole number of at least {}", option, text(option), least);
  }
  return *value;
}

double Setting::positive(const std::string& option) const {
  const auto value = parsed<double>(text(option));
  if (!value || !std::isfinite(*value) || *value <= 0) {
    fail(Code::usage, "--{} {}: expected a positive number", option, text(option));
  }
  return *value;
}

std::vector<double> Setting::numbers(const std::string& option, double least, double most) const {
  const auto given = parsed_list<double>(text(option));
  if (!given || std::any_of(given->begin(), given->end(), [&](double v) { return !(v >= least && v <= most); })) {
    fail(Code::usage, "--{} {}: expected comma-separated numbers from {:g} to {:g}", option, text(option), least, most);
  }
  return *given;
}

std::vector<Index> Setting::counts(const std::string& option, Index least) const {
  const auto given = parsed_list<Index>(text(option));
  if (!given || std::any_of(given->begin(), given->end(), [&](Index v) { return v < least; })) {
    fail(Code::usage, "--{} {}: expected comma-separated whole numbers of at least {}", option, text(option), least);
  }
  return *given;
}

TrainTest Setting::load(DataRequest request) const {
  request.memory = memory;
  request.progress = progress;
  return load_train_test(request);
}

TrainOptions Setting::training() const {
  TrainOptions options;
  options.seed = seed;
  options.precision = precision;
  options.memory = memory;
  options.progress = progress;
  return options;
}

std::vector<Experiment> all_experiments() {
  return {mnist_machines(),
          equivalence_figure(),
          width_scaling(),
          every_net_is_a_kernel_machine(),
          noisy_labels_rdi_aux(),
          noisy_labels_cnn(),
          certificates_table2(),
          certificates_table3(),
          generalisation_bounds(),
          uci_90(),
          cntk_cifar10(),
          gntk(),
          spectrum_labels(),
          label_complexity(),
          lemmas(),
          nth_error(),
          hoeffding_decomposition(),
          lantk_table1(),
          lantk_table2(),
          lantk_table3(),
          la_figure1(),
          chaotic_transient(),
          ntk_phases(),
          ntk_structure()};
}

}  // namespace widelimit::experiment
