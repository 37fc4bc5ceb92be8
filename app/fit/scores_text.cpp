#include "app/fit/scores_text.hpp"

#include "app/shell/outcome.hpp"

#include "widelimit/analysis/comparison/paired_tests.hpp"
#include "widelimit/data/origin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::app {

namespace {

/// Returns the scores of classes of a part that the machine has not been fitted to, or null.
const ClassScores* held_out(const NamedScore& part) {
  return part.first == to_string(Part::test) ? std::get_if<ClassScores>(&part.second) : nullptr;
}

std::size_t largest_class(const ClassScores& scores) {
  const auto most = std::max_element(scores.classes.begin(), scores.classes.end(),
                                     [](const ClassScore& a, const ClassScore& b) { return a.support < b.support; });
  return static_cast<std::size_t>(most - scores.classes.begin());
}

double share_of_class(const ClassScores& scores, std::size_t c) {
  return static_cast<double>(scores.classes[c].support) / static_cast<double>(scores.samples);
}

}  // namespace

std::string chance_text(const NamedScore& part, const std::vector<std::string>& classes) {
  const ClassScores* scores = held_out(part);
  if (scores == nullptr) return {};
  const Interval interval = wilson_interval(scores->correct, scores->samples);
  const std::size_t largest = largest_class(*scores);
  return fmt::format("95 % interval of the accuracy {:.3f} … {:.3f}; predicting '{}' always reaches {:.4f}",
                     interval.low, interval.high, classes[largest], share_of_class(*scores, largest));
}

nlohmann::ordered_json part_json(const NamedScore& part, const std::vector<std::string>& classes) {
  nlohmann::ordered_json json = score_json(part.second, classes);
  const ClassScores* scores = held_out(part);
  if (scores == nullptr) return json;
  const Interval interval = wilson_interval(scores->correct, scores->samples);
  const std::size_t largest = largest_class(*scores);
  json["accuracy_interval"] = {interval.low, interval.high};
  json["largest_class"] = {{"class", classes[largest]}, {"share", share_of_class(*scores, largest)}};
  return json;
}

std::string scores_text(const std::vector<NamedScore>& parts, const std::vector<std::string>& classes) {
  constexpr std::size_t most_classes = 20;  // more do not fit into a terminal
  std::string text;
  for (const NamedScore& part : parts) {
    text += fmt::format("{:<5} {}\n", part.first, score_text(part.second));
    if (const std::string chance = chance_text(part, classes); !chance.empty()) {
      text += fmt::format("{:<5} {}\n", part.first, chance);
    }
  }
  if (parts.empty()) return text;
  const auto& [last_name, last] = parts.back();
  if (const auto* scores = std::get_if<ClassScores>(&last)) {
    text += table_text(scores_table(parts));
    if (classes.size() <= most_classes) {
      Table each = class_table(*scores, classes);
      each.columns.front() = fmt::format("class ({})", last_name);
      text += table_text(each);
    }
  }
  for (const auto& [name, score] : parts) {
    for (const std::string& note : missing_scores(score, classes)) text += fmt::format("{}: {}\n", name, note);
  }
  return text;
}

std::string add_output_errors(const Matrix<double>& decisions, const Dataset& data, nlohmann::ordered_json& json) {
  if (data.outputs.rows() != decisions.rows() || data.outputs.cols() != decisions.cols()) return {};
  std::string text;
  for (Index c = 0; c < decisions.cols(); ++c) {
    double square = 0;
    for (Index i = 0; i < decisions.rows(); ++i) square += std::pow(data.outputs(i, c) - decisions(i, c), 2);
    const double error = std::sqrt(square / static_cast<double>(decisions.rows()));
    const Column& column = data.layout.outputs[usize(c)];
    const std::string name = column.name.empty() ? fmt::format("column {}", column.place + 1) : column.name;
    json["rmse"][name] = error;
    text += fmt::format("{}{} {:.4g}", c == 0 ? "root mean squared error: " : ", ", name, error);
  }
  return text;
}

}  // namespace widelimit::app
