#include "widelimit/data/formats/array_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 6> feature_names{"x", "x_train", "data", "images", "features", "inputs"};
constexpr std::array<std::string_view, 6> label_names{"y", "y_train", "labels", "label", "targets", "target"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::optional<std::string> first_of(const std::vector<std::string>& names, std::span<const std::string_view> wanted) {
  for (const std::string_view want : wanted) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& name) { return lower(name) == want; });
    if (found != names.end()) return *found;
  }
  return std::nullopt;
}

[[noreturn]] void fail_absent(const std::string& what, const std::vector<std::string>& names,
                              const ReadOptions& options) {
  fail(Code::input, "{}: {}; it holds: {}", options.source, what, fmt::join(names, ", "));
}

}  // namespace

ArrayChoice choose_arrays(const std::vector<std::string>& names, const ReadOptions& options) {
  const auto holds = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  ArrayChoice choice;
  choice.label = options.label ? options.label : first_of(names, label_names);
  if (choice.label == "none") choice.label.reset();
  if (choice.label && !holds(*choice.label)) fail_absent("no array '" + *choice.label + "'", names, options);

  auto features = options.features ? options.features : first_of(names, feature_names);
  if (!features) {
    std::vector<std::string> others;
    std::copy_if(names.begin(), names.end(), std::back_inserter(others),
                 [&](const auto& name) { return name != choice.label && name != settings_name; });
    if (others.size() != 1) fail_absent("no array is called x, data, images or features", names, options);
    features = others.front();
  }
  if (!holds(*features)) fail_absent("no array '" + *features + "'", names, options);
  choice.features = *features;
  return choice;
}

}  // namespace widelimit
