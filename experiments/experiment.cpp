#include "experiments/experiment.hpp"

#include "experiments/equivalence_figure.hpp"
#include "experiments/mnist_machines.hpp"
#include "experiments/width_scaling.hpp"
#include "widelimit/base/error.hpp"

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

}  // namespace

const std::string& Setting::text(const std::string& option) const { return values.at(option); }

Index Setting::count(const std::string& option, Index least) const {
  const auto value = parsed<Index>(text(option));
  if (!value || *value < least) {
    fail(Code::usage, "--{} {}: a whole number of at least {} is wanted", option, text(option), least);
  }
  return *value;
}

double Setting::positive(const std::string& option) const {
  const auto value = parsed<double>(text(option));
  if (!value || !std::isfinite(*value) || *value <= 0) {
    fail(Code::usage, "--{} {}: a positive number is wanted", option, text(option));
  }
  return *value;
}

std::vector<Index> Setting::counts(const std::string& option, Index least) const {
  std::vector<Index> values;
  const std::string& all = text(option);
  for (std::size_t begin = 0; begin <= all.size();) {
    const std::size_t end = std::min(all.find(',', begin), all.size());
    const auto value = parsed<Index>(all.substr(begin, end - begin));
    if (!value || *value < least) {
      fail(Code::usage, "--{} {}: whole numbers of at least {}, separated by commas, are wanted", option, all, least);
    }
    values.push_back(*value);
    begin = end + 1;
  }
  return values;
}

std::vector<Experiment> all_experiments() { return {mnist_machines(), equivalence_figure(), width_scaling()}; }

}  // namespace widelimit::experiment
