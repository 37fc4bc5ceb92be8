#include "app/shell/remedies.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <string_view>

namespace widelimit::app {

namespace {

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
      return "--precision f32";
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

}  // namespace

std::string options_of(const std::vector<Remedy>& remedies, const CLI::App& verb) {
  std::vector<std::string_view> options;
  for (const Remedy remedy : remedies) {
    const std::string_view option = option_of(remedy);
    const bool here = verb.get_option_no_throw(std::string(option.substr(0, option.find(' ')))) != nullptr;
    if (here || remedy == Remedy::resume) options.push_back(option);
  }
  return options.empty() ? "" : fmt::format(" ({})", fmt::join(options, ", "));
}

}  // namespace widelimit::app
