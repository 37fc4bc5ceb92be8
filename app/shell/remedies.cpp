#include "app/shell/remedies.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <string_view>

namespace widelimit::app {

namespace {

constexpr std::string_view single_precision = "--precision f32";

std::string_view option_of(Remedy remedy) {
  switch (remedy) {
    case Remedy::resume:
      return "--resume";
    case Remedy::begin_again:
      return "--force";
    case Remedy::more_memory:
      return "--memory";
    case Remedy::fewer_samples:
      return "--limit";
    case Remedy::single_precision:
      return single_precision;
    case Remedy::treat_missing:
      return "--missing drop|mean|median";
    case Remedy::choose_columns:
      return "--drop";
    case Remedy::choose_task:
      return "--task regression|classification";
    case Remedy::image_shape:
      return "--shape HxWxC";
    case Remedy::channels_first:
      return "--channels-first";
    case Remedy::mirror:
      return "--from URL";
    case Remedy::ignore_labels:
      return "--label none";
    case Remedy::more_directions:
      return "--samples";
    case Remedy::direction_limit:
      return "--max-samples";
  }
  return "";
}

/// Returns whether the verb has the option, and was not started with it already.
bool helps(std::string_view option, const CLI::App& verb) {
  const auto space = option.find(' ');
  const CLI::Option* const known = verb.get_option_no_throw(std::string(option.substr(0, space)));
  if (known == nullptr) return false;
  return option != single_precision || known->count() == 0 || known->as<std::string>() != option.substr(space + 1);
}

}  // namespace

std::string options_of(const std::vector<Remedy>& remedies, const CLI::App& verb) {
  std::vector<std::string_view> options;
  for (const Remedy remedy : remedies) {
    const std::string_view option = option_of(remedy);
    if (helps(option, verb) || remedy == Remedy::resume) options.push_back(option);
  }
  return options.empty() ? "" : fmt::format(" ({})", fmt::join(options, ", "));
}

}  // namespace widelimit::app
