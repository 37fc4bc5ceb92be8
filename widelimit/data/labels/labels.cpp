#include "widelimit/data/labels/labels.hpp"

#include "widelimit/base/choice.hpp"
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

/// Sets classes from keys, sorted by key; `name` converts a key to text.
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

bool has_leading_zero(std::string_view text) { return text.size() > 1 && text.front() == '0'; }

/// Returns whether the labels are codes such as "007": digits only, some with leading zeros, which numbers do not keep.
bool are_codes(const std::vector<std::string>& cells) {
  const auto is_digits = [](const std::string& cell) {
    return !cell.empty() && cell.find_first_not_of("0123456789") == std::string::npos;
  };
  return std::any_of(cells.begin(), cells.end(), has_leading_zero) &&
         std::all_of(cells.begin(), cells.end(), is_digits);
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
  if (numbers.size() == cells.size() && !are_codes(cells)) {
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
  std::vector<double> numbers(static_cast<std::size_t>(cells.rows()));
  std::visit([&](const auto& m) { std::copy_n(m.data(), numbers.size(), numbers.begin()); }, cells.values);
  const auto bad = std::find_if(numbers.begin(), numbers.end(), [](double number) { return !std::isfinite(number); });
  if (bad != numbers.end()) {
    fail(Code::input, "{}, labels: sample {} has {}; every label must be a finite number", source,
         bad - numbers.begin(), *bad);
  }
  set_numbers(data, std::move(numbers));
}

namespace {

constexpr std::array<std::string_view, 2> task_names{"classification", "regression"};

/// Returns the class names as ascending integers; std::nullopt if one is not an integer.
std::optional<std::vector<double>> whole_numbers(const std::vector<std::string>& names) {
  std::vector<double> numbers;
  for (const std::string& name : names) {
    const auto number = parse_real(name);
    if (!number || *number != std::nearbyint(*number)) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

std::string_view to_string(Task task) { return task_names[static_cast<std::size_t>(task)]; }

Task parse_task(std::string_view text) { return parse_choice<Task>("task", task_names, text); }

void set_task(Dataset& data, Task task) {
  if (!data.labelled()) fail(Code::input, "{} is unlabelled; give its label to train on it", data.name);
  if (task == Task::classification) require_one_target(data);
  if (task == Task::regression && !data.class_names.empty()) {
    relabel(data, {}, true);
  } else if (task == Task::classification && !data.targets.empty()) {
    const std::vector<double> values = std::exchange(data.targets, {});
    set_classes(data, values, [](double value) { return fmt::format("{}", value); });
  }
}

void require_members(const Dataset& data, Index least, std::string_view what) {
  std::vector<Index> counts(data.class_names.size(), 0);
  for (const Index label : data.labels) ++counts[usize(label)];
  const auto small = std::find_if(counts.begin(), counts.end(), [least](Index count) { return count < least; });
  if (small == counts.end()) return;
  fail(Code::input,
       "{}: class '{}' has {} sample{}, but {} at least {} of each class; leave the class out, or take more", data.name,
       data.class_names[usize(small - counts.begin())], *small, *small == 1 ? "" : "s", what, least);
}

void require_one_target(const Dataset& data) {
  if (data.outputs.rows() == 0) return;
  fail(Code::usage, "{}: it has {} label columns, but only one is supported here; give one of them", data.name,
       data.outputs.cols());
}

void guess_task(Dataset& data) {
  if (are_codes(data.class_names)) {
    data.notes.push_back(fmt::format("{}: its labels have leading zeros ('{}') and are treated as classes", data.name,
                                     data.class_names.front()));
    return;
  }
  const auto numbers = whole_numbers(data.class_names);
  if (!numbers || numbers->empty()) return;
  constexpr Index few = 20;
  const auto different = std::ssize(*numbers);
  const bool counting = (numbers->front() == 0 || numbers->front() == 1) &&
                        numbers->back() - numbers->front() == static_cast<double>(different - 1);
  const bool signs = different <= 3 && numbers->front() == -1 && numbers->back() == 1;
  const bool mostly_once = 2 * different > data.count();
  if (different <= 2 || signs || (counting && different <= few)) return;
  const bool targets = mostly_once || (different > few && !counting);
  data.notes.push_back(fmt::format("{}: its labels are {} different integers, treated as {}", data.name, different,
                                   targets ? "numbers to predict (regression)" : "classes (classification)"));
  if (targets) set_task(data, Task::regression);
}

std::optional<Index> column_number(const std::string& text, Index columns) {
  Index number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  if (number < 0) number += columns;
  return number >= 0 && number < columns ? std::optional(number) : std::nullopt;
}

namespace {

/// Returns the place of a class in `names`: by its text, else by its number if one name alone has it ("1" and "01").
Index class_place(const std::vector<std::string>& names, const std::string& name, std::optional<double> number) {
  const auto same = std::find(names.begin(), names.end(), name);
  if (same != names.end() || !number) return same - names.begin();
  const auto equal = [&](const std::string& other) { return parse_real(other) == number; };
  if (std::count_if(names.begin(), names.end(), equal) != 1) return std::ssize(names);
  return std::find_if(names.begin(), names.end(), equal) - names.begin();
}

}  // namespace

void relabel(Dataset& data, const std::vector<std::string>& class_names, bool regression) {
  if (data.labels.empty() && data.targets.empty()) return;
  if (!regression && !data.targets.empty()) {
    fail(Code::input, "{}: its labels are real numbers, but those of the training set are classes", data.name);
  }
  // Checks only classes with samples: rows may have been dropped.
  std::vector<bool> occurs(data.class_names.size(), false);
  for (const Index label : data.labels) occurs[usize(label)] = true;
  std::vector<double> numbers;
  std::vector<Index> places;
  for (const std::string& name : data.class_names) {
    const bool used = occurs[numbers.size()];
    const auto number = parse_real(name);
    const Index place = class_place(class_names, name, number);
    if (used && regression && !number) {
      fail(Code::input, "{}: its label '{}' is not a number, but those of the training set are", data.name, name);
    }
    if (used && !regression && place == std::ssize(class_names)) {
      fail(Code::input,
           "{}: class '{}' does not occur in the training set, whose classes are: {}; select some of these", data.name,
           name, fmt::join(class_names, ", "));
    }
    numbers.push_back(number.value_or(0));
    places.push_back(place);
  }
  for (Index& label : data.labels) {
    const std::size_t old = usize(label);
    if (regression) data.targets.push_back(numbers[old]);
    label = places[old];
  }
  if (regression) data.labels.clear();
  data.class_names = regression ? std::vector<std::string>{} : class_names;
}

}  // namespace widelimit
