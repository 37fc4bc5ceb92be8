#include "experiments/experiment.hpp"

#include "experiments/every_net.hpp"
#include "experiments/mnist_machines.hpp"
#include "experiments/noisy_labels.hpp"
#include "widelimit/base/error.hpp"

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

std::vector<double> Setting::numbers(const std::string& option, double least, double most) const {
  std::vector<double> given;
  std::string rest = text(option) + ",";
  for (std::size_t comma = rest.find(','); comma != std::string::npos; comma = rest.find(',')) {
    const auto value = parsed<double>(rest.substr(0, comma));
    if (!value || !(*value >= least && *value <= most)) {
      fail(Code::usage, "--{} {}: numbers from {:g} to {:g} with commas between them are wanted", option, text(option),
           least, most);
    }
    given.push_back(*value);
    rest.erase(0, comma + 1);
  }
  return given;
}

std::vector<Experiment> all_experiments() {
  return {mnist_machines(), every_net_is_a_kernel_machine(), noisy_labels_rdi_aux()};
}

}  // namespace widelimit::experiment
