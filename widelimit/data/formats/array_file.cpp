#include "widelimit/data/formats/array_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 5> feature_names{"x", "data", "images", "features", "inputs"};
constexpr std::array<std::string_view, 5> label_names{"y", "labels", "label", "targets", "target"};

using ArrayNames = std::vector<std::string>;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Returns a name without its prefix or suffix train or test, and that part; Part::all if it has neither.
std::pair<std::string, Part> part_of(const std::string& name) {
  const std::string plain = lower(name);
  for (const Part part : {Part::train, Part::test}) {
    const std::string word(to_string(part));
    if (plain.ends_with("_" + word)) return {plain.substr(0, plain.size() - word.size() - 1), part};
    if (plain.starts_with(word + "_")) return {plain.substr(word.size() + 1), part};
  }
  return {plain, Part::all};
}

/// Returns the arrays of `part` with one of the `usual` names, in order of preference.
ArrayNames usual_names(const ArrayNames& names, std::span<const std::string_view> usual, Part part) {
  ArrayNames found;
  for (const std::string_view usual_name : usual) {
    for (const std::string& name : names) {
      if (const auto [plain, own] = part_of(name); plain == usual_name && own == part) found.push_back(name);
    }
  }
  return found;
}

bool holds(const ArrayNames& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] void fail_absent(const std::string& what, const ArrayNames& names, const ReadOptions& options) {
  fail(Code::input, "{}: {}; it holds: {}", options.source, what, fmt::join(names, ", "));
}

[[noreturn]] void fail_ambiguous(const std::string& what, const ArrayNames& names, const ReadOptions& options) {
  fail(Code::input, "{}: {}; it holds: {}. Give their names, e.g. {}(x=NAME,label=NAME)", options.source, what,
       fmt::join(names, ", "), options.source);
}

/// Returns the only array that is neither label nor settings; std::nullopt if there are several.
std::optional<std::string> only_other(const ArrayNames& names, const std::optional<std::string>& label) {
  ArrayNames others;
  std::copy_if(names.begin(), names.end(), std::back_inserter(others),
               [&](const auto& name) { return name != label && name != settings_name; });
  return others.size() == 1 ? std::optional(others.front()) : std::nullopt;
}

std::string chosen_features(const ArrayNames& names, const ReadOptions& options) {
  const ArrayNames plain = usual_names(names, feature_names, Part::all);
  const ArrayNames train = usual_names(names, feature_names, Part::train);
  const ArrayNames test = usual_names(names, feature_names, Part::test);
  if (!plain.empty() && !(train.empty() && test.empty())) {
    fail_ambiguous("it is ambiguous which array holds the samples", names, options);
  }
  if (!plain.empty()) return plain.front();
  if (!train.empty() || !test.empty()) {
    const bool test_requested = options.part == Part::test;
    const ArrayNames& requested = test_requested ? test : train;
    if (requested.empty()) {
      fail_ambiguous(test_requested ? "it has training samples, but no test samples"
                                    : "it has test samples, but no training samples",
                     names, options);
    }
    return requested.front();
  }
  const ArrayNames labels = usual_names(names, label_names, Part::all);
  const auto label = options.label ? options.label : (labels.empty() ? std::nullopt : std::optional(labels.front()));
  if (const auto other = only_other(names, label)) {
    constexpr std::array<std::string_view, 4> kernels{"ntk", "nngp", "kernel", "label_aware"};
    if (std::find(kernels.begin(), kernels.end(), *other) == kernels.end()) return *other;
    fail(Code::input,
         "{}: array '{}' is a kernel, not samples; give the file as a precomputed kernel, or write {}(x={})",
         options.source, *other, options.source, *other);
  }
  fail_absent("no array is called x, data, images or features", names, options);
}

/// Returns the labels of the same part as the samples.
std::optional<std::string> chosen_label(const ArrayNames& names, const std::string& features,
                                        const ReadOptions& options) {
  const Part part = part_of(features).second;
  const ArrayNames labels = usual_names(names, label_names, part);
  if (!labels.empty()) return labels.front();
  for (const Part other : {Part::all, Part::train, Part::test}) {
    if (other == part || usual_names(names, label_names, other).empty()) continue;
    fail_ambiguous("it is ambiguous which array holds the labels of '" + features + "'", names, options);
  }
  return std::nullopt;
}

}  // namespace

ArrayChoice choose_arrays(const std::vector<std::string>& names, const ReadOptions& options) {
  ArrayChoice choice;
  choice.features = options.features ? *options.features : chosen_features(names, options);
  if (!holds(names, choice.features)) fail_absent("no array '" + choice.features + "'", names, options);
  choice.label = options.label ? options.label : chosen_label(names, choice.features, options);
  if (choice.label == "none") choice.label.reset();
  if (choice.label && !holds(names, *choice.label)) fail_absent("no array '" + *choice.label + "'", names, options);
  return choice;
}

}  // namespace widelimit
