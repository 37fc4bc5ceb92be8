#include "widelimit/data/labels/folds.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/base/types.hpp"
#include "widelimit/data/formats/byte_stream.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <tuple>

namespace widelimit {

namespace {

bool separates(char c) { return c == ' ' || c == '\t' || c == ',' || c == '\r'; }

std::vector<Index> parse_rows(std::string_view line, const std::string& place) {
  std::vector<Index> rows;
  const char* at = line.data();
  const char* end = at + line.size();
  for (;;) {
    while (at != end && separates(*at)) ++at;
    if (at == end) return rows;
    Index row = 0;
    const auto [after, error] = std::from_chars(at, end, row);
    if (error != std::errc{} || (after != end && !separates(*after)) || row < 0) {
      const char* stop = std::find_if(at, end, separates);
      fail(Code::input, "{}: '{}' is not the number of a row; rows count from 0", place,
           std::string(at, std::min(stop, at + 20)));
    }
    rows.push_back(row);
    at = after;
  }
}

std::vector<SplitRows> parse_lines(std::string_view text, const std::string& source) {
  std::vector<SplitRows> folds;
  bool tests = false;
  for (Index line = 1; !text.empty(); ++line) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const std::string_view content = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    const auto first = std::find_if_not(content.begin(), content.end(), separates);
    if (first == content.end() || *first == '#') continue;
    std::vector<Index> rows = parse_rows(content, fmt::format("{}, line {}", source, line));
    if (tests) {
      folds.back().test = std::move(rows);
    } else {
      folds.push_back({std::move(rows), {}});
    }
    tests = !tests;
  }
  if (tests) {
    fail(Code::input, "{}: fold {} has a line of training rows but none of test rows", source, folds.size());
  }
  return folds;
}

std::vector<Index> rows_of(const nlohmann::json& fold, const char* part, const std::string& place) {
  std::vector<Index> rows;
  if (!fold.is_object() || !fold.contains(part) || !fold[part].is_array()) {
    fail(Code::input, "{} has no list \"{}\" of rows; a fold is {{\"train\": [0, 1], \"test\": [2]}}", place, part);
  }
  for (const nlohmann::json& row : fold[part]) {
    if (!row.is_number_unsigned()) {
      fail(Code::input, "{}: {} is not the number of a row; rows count from 0", place, row.dump());
    }
    rows.push_back(row.get<Index>());
  }
  return rows;
}

std::vector<SplitRows> parse_json(std::string_view text, const std::string& source) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array())
    fail(Code::input, "{} is not a JSON list of folds, such as [{{\"train\": [0, 1], \"test\": [2]}}, …]", source);
  std::vector<SplitRows> folds;
  for (const nlohmann::json& fold : json) {
    const std::string place = fmt::format("fold {} of {}", folds.size() + 1, source);
    folds.push_back({rows_of(fold, "train", place), rows_of(fold, "test", place)});
  }
  return folds;
}

/// Counts each row in `marks`. Throws Error{input} if a row is out of range or repeated.
void mark(const std::vector<Index>& rows, std::vector<Index>& marks, const char* part, std::size_t fold) {
  if (rows.empty()) fail(Code::input, "fold {} has no {} rows", fold, part);
  for (const Index row : rows) {
    if (row < 0 || row >= std::ssize(marks)) {
      fail(Code::input, "{} row {} of fold {} is out of range for {} samples, 0 to {}", part, row, fold, marks.size(),
           std::ssize(marks) - 1);
    }
    if (marks[usize(row)]++ > 0) fail(Code::input, "{} row {} is listed twice in fold {}", part, row, fold);
  }
}

std::string plural(Index count, const char* noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

}  // namespace

std::vector<SplitRows> parse_folds(Bytes bytes, const std::string& source) {
  const std::string_view text = as_text(bytes);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) fail(Code::input, "{} has no folds", source);
  const bool json = text[first] == '[' || text[first] == '{';
  std::vector<SplitRows> folds = json ? parse_json(text, source) : parse_lines(text, source);
  if (folds.empty()) fail(Code::input, "{} has no folds", source);
  return folds;
}

std::vector<SplitRows> read_folds(const std::filesystem::path& path, const ReadLimits& limits) {
  return parse_folds(read_unpacked(path, limits), path.string());
}

std::vector<std::string> check_folds(std::span<const SplitRows> folds, Index samples, std::span<const Index> labels) {
  if (folds.empty()) fail(Code::input, "there are no folds");
  const Index classes = labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
  std::vector<Index> tested(usize(samples), 0);
  std::vector<std::string> notes;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    std::vector<Index> trains(usize(samples), 0);
    std::vector<Index> tests(usize(samples), 0);
    mark(folds[f].train, trains, "training", f + 1);
    mark(folds[f].test, tests, "test", f + 1);
    std::vector<char> learnt(usize(classes), 0);
    if (classes > 0) {
      for (const Index row : folds[f].train) learnt[usize(labels[usize(row)])] = 1;
      if (std::count(learnt.begin(), learnt.end(), 1) < 2) {
        fail(Code::input, "all training rows of fold {} are of one class; a classifier needs two", f + 1);
      }
    }
    Index unknown = 0;
    for (const Index row : folds[f].test) {
      if (trains[usize(row)] > 0) fail(Code::input, "fold {} both trains on and tests row {}", f + 1, row);
      tested[usize(row)] += 1;
      unknown += classes > 0 && learnt[usize(labels[usize(row)])] == 0 ? 1 : 0;
    }
    if (unknown > 0) {
      notes.push_back(fmt::format("fold {} tests {} of classes that it does not train on; they count as errors", f + 1,
                                  plural(unknown, "row")));
    }
  }
  const Index never = std::count(tested.begin(), tested.end(), 0);
  const Index often = std::count_if(tested.begin(), tested.end(), [](Index times) { return times > 1; });
  if (never > 0) notes.push_back(fmt::format("no fold tests {} of {}", plural(never, "row"), samples));
  if (often > 0) notes.push_back(fmt::format("several folds test {} of {}", plural(often, "row"), samples));
  return notes;
}

std::vector<SplitRows> draw_folds(std::span<const Index> labels, Index folds, std::uint64_t seed) {
  if (folds < 2 || folds > std::ssize(labels)) {
    fail(Code::input, "{} folds of {} samples; choose between 2 and the number of samples", folds, labels.size());
  }
  constexpr std::uint64_t fold_stream = 0x666f6c6473;
  const Random random(seed, fold_stream);
  std::vector<Index> order(labels.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    const auto key = [&](Index i) {
      return std::tuple(labels[usize(i)], random.bits(static_cast<std::uint64_t>(i)), i);
    };
    return key(a) < key(b);
  });
  std::vector<SplitRows> result(usize(folds));
  for (std::size_t place = 0; place < order.size(); ++place) {
    for (std::size_t f = 0; f < result.size(); ++f) {
      auto& part = place % result.size() == f ? result[f].test : result[f].train;
      part.push_back(order[place]);
    }
  }
  return result;
}

}  // namespace widelimit
