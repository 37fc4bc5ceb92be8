#include "widelimit/data/labels.hpp"

#include "widelimit/base/utf8.hpp"
#include "widelimit/data/formats/number.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

namespace widelimit {

namespace {

void require_count(const Dataset& data, std::size_t labels, const std::string& source) {
  if (labels != static_cast<std::size_t>(data.count())) {
    fail(Code::input, "{}: {} labels for {} samples; there must be one for each", source, labels, data.count());
  }
}

/// Classes from keys that sort as the classes should; `name` spells one.
template <typename Key, typename Name>
void set_classes(Dataset& data, const std::vector<Key>& keys, Name name) {
  std::map<Key, Index> order;
  for (const Key& key : keys) order.emplace(key, 0);
  data.class_names.clear();
  for (auto& entry : order) {
    entry.second = static_cast<Index>(data.class_names.size());
    data.class_names.push_back(name(entry.first));
  }
  data.labels.clear();
  data.labels.reserve(keys.size());
  for (const Key& key : keys) data.labels.push_back(order.at(key));
}

void set_numbers(Dataset& data, std::vector<double> numbers) {
  const bool integers = std::all_of(numbers.begin(), numbers.end(),
                                    [](double v) { return v == std::nearbyint(v) && std::abs(v) <= exact_integers; });
  if (!integers) {
    data.targets = std::move(numbers);
    return;
  }
  std::vector<std::int64_t> keys(numbers.size());
  std::transform(numbers.begin(), numbers.end(), keys.begin(), [](double v) { return static_cast<std::int64_t>(v); });
  set_classes(data, keys, [](std::int64_t key) { return std::to_string(key); });
}

}  // namespace

void set_labels(Dataset& data, const std::vector<std::string>& cells, const std::string& source) {
  require_count(data, cells.size(), source);
  std::vector<double> numbers;
  numbers.reserve(cells.size());
  for (const std::string& cell : cells) {
    const auto number = parse_real(cell);
    if (!number || !std::isfinite(*number)) break;
    numbers.push_back(*number);
  }
  if (numbers.size() == cells.size()) {
    set_numbers(data, std::move(numbers));
  } else {
    set_classes(data, cells, [](const std::string& cell) { return printable(cell); });
  }
}

void set_labels(Dataset& data, const Array& cells, const std::string& source) {
  require_count(data, static_cast<std::size_t>(cells.rows()), source);
  if (row_size(cells.dims) != 1) {
    fail(Code::input, "{}: {} labels for each sample; there must be one", source, row_size(cells.dims));
  }
  if (!cells.texts.empty()) return set_labels(data, cells.texts, source);
  require_finite(cells.values, source + ", labels");
  std::vector<double> numbers(static_cast<std::size_t>(cells.rows()));
  std::visit([&](const auto& m) { std::copy_n(m.data(), numbers.size(), numbers.begin()); }, cells.values);
  set_numbers(data, std::move(numbers));
}

std::optional<Index> column_number(const std::string& text, Index columns) {
  Index number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  if (number < 0) number += columns;
  return number >= 0 && number < columns ? std::optional(number) : std::nullopt;
}

void relabel(Dataset& data, const std::vector<std::string>& class_names, bool regression) {
  if (data.labels.empty() && data.targets.empty()) return;
  if (!regression && !data.targets.empty()) {
    fail(Code::input, "{}: its labels are real numbers, those of the training set are classes", data.name);
  }
  std::vector<double> numbers;
  std::vector<Index> places;
  for (const std::string& name : data.class_names) {
    const auto number = parse_real(name);
    const auto place = std::find(class_names.begin(), class_names.end(), name);
    if (regression && !number) {
      fail(Code::input, "{}: its label '{}' is no number, and those of the training set are", data.name, name);
    }
    if (!regression && place == class_names.end()) {
      fail(Code::input, "{}: class '{}' does not occur in the training set, whose classes are: {}; choose among these",
           data.name, name, fmt::join(class_names, ", "));
    }
    numbers.push_back(number.value_or(0));
    places.push_back(place - class_names.begin());
  }
  for (Index& label : data.labels) {
    const auto old = static_cast<std::size_t>(label);
    if (regression) data.targets.push_back(numbers[old]);
    label = places[old];
  }
  if (regression) data.labels.clear();
  data.class_names = regression ? std::vector<std::string>{} : class_names;
}

}  // namespace widelimit
