#include "widelimit/data/preparation/preprocess.hpp"

#include "widelimit/base/random.hpp"
#include "widelimit/data/formats/number.hpp"
#include "widelimit/data/labels/labels.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

/// Returns the index of class `requested` in the class names of `data`.
Index find_class(const Dataset& data, const std::string& requested) {
  const auto& names = data.class_names;
  const auto named = std::find(names.begin(), names.end(), requested);
  if (named != names.end()) return named - names.begin();
  const bool text = std::none_of(names.begin(), names.end(), [](const auto& n) { return parse_real(n).has_value(); });
  const auto number = text ? column_number(requested, std::ssize(names)) : std::nullopt;
  if (number) return *number;
  fail(Code::input, "{}: no class '{}'; its classes are: {}", data.name, requested, fmt::join(names, ", "));
}

std::vector<Index> range(Index first, Index last) {
  std::vector<Index> rows(static_cast<std::size_t>(last - first));
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

}  // namespace

Dataset take_rows(const Dataset& data, std::span<const Index> rows) {
  Dataset taken;
  taken.name = data.name;
  taken.shape = data.shape;
  taken.class_names = data.class_names;
  taken.layout = data.layout;
  taken.degree_tags = data.degree_tags;
  taken.notes = data.notes;
  for (const Index i : rows) {
    if (!data.labels.empty()) taken.labels.push_back(data.labels[static_cast<std::size_t>(i)]);
    if (!data.targets.empty()) taken.targets.push_back(data.targets[static_cast<std::size_t>(i)]);
  }
  if (data.outputs.rows() > 0) {
    taken.outputs = Matrix<double>(std::ssize(rows), data.outputs.cols(), Content::unset);
    for (Index k = 0; k < taken.outputs.rows(); ++k) {
      std::copy_n(data.outputs.view().row(rows[usize(k)]), data.outputs.cols(), taken.outputs.view().row(k));
    }
  }
  taken.values = gather(data.view(), rows);
  return taken;
}

Dataset select_classes(const Dataset& data, std::span<const std::string> classes) {
  if (data.class_names.empty()) {
    fail(Code::input, "{}: it has no classes to choose from ({})", data.name,
         data.labelled() ? "its labels are real numbers" : "it is unlabelled");
  }
  std::vector<bool> kept(data.class_names.size(), false);
  for (const std::string& requested : classes) kept[static_cast<std::size_t>(find_class(data, requested))] = true;
  std::vector<Index> rows;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    if (kept[static_cast<std::size_t>(data.labels[i])]) rows.push_back(static_cast<Index>(i));
  }
  Dataset chosen = take_rows(data, rows);
  chosen.class_names.clear();
  std::vector<Index> place(kept.size(), 0);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    if (!kept[k]) continue;
    place[k] = std::ssize(chosen.class_names);
    chosen.class_names.push_back(data.class_names[k]);
  }
  for (Index& label : chosen.labels) label = place[static_cast<std::size_t>(label)];
  return chosen;
}

Dataset limit_rows(Dataset data, Index count) {
  if (count < 1) fail(Code::usage, "a limit of {} samples leaves no samples; give at least 1", count);
  if (count >= data.count()) return data;
  return take_rows(data, range(0, count));
}

std::vector<Index> permutation(Index count, std::uint64_t seed, std::uint64_t stream) {
  const Random random(seed, stream);
  std::vector<Index> order = range(0, count);
  for (std::uint64_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i, i)]);
  return order;
}

Dataset shuffle_rows(const Dataset& data, std::uint64_t seed, std::uint64_t stream) {
  return take_rows(data, permutation(data.count(), seed, stream));
}

void drop_absent_classes(Dataset& train, std::optional<Dataset>& test) {
  std::vector<Index> counts(train.class_names.size());
  for (const Index label : train.labels) ++counts[usize(label)];
  std::vector<std::string> present;
  std::vector<std::string> absent;
  for (std::size_t c = 0; c < counts.size(); ++c) (counts[c] > 0 ? present : absent).push_back(train.class_names[c]);
  if (absent.empty()) return;
  Index left_out = 0;
  if (test && !test->labels.empty()) {
    const auto kept =
        std::count_if(test->labels.begin(), test->labels.end(), [&](Index label) { return counts[usize(label)] > 0; });
    left_out = test->count() - kept;
    if (kept > 0)
      test = select_classes(*test, present);
    else
      test.reset();
  }
  train = select_classes(train, present);
  train.notes.push_back(fmt::format("{}: no training sample is of class {}, which {} left out{}", train.name,
                                    fmt::join(absent, ", "), absent.size() == 1 ? "is" : "are",
                                    left_out > 0 ? fmt::format(", and with it {} test samples", left_out) : ""));
}

}  // namespace widelimit
