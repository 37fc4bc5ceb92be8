#include "app/fit/scores_text.hpp"

#include "app/shell/outcome.hpp"

#include <fmt/format.h>

#include <cmath>

namespace widelimit::app {

std::string scores_text(const std::vector<NamedScore>& parts, const std::vector<std::string>& classes) {
  constexpr std::size_t most_classes = 20;  // more do not fit into a terminal
  std::string text;
  for (const auto& [name, score] : parts) text += fmt::format("{:<5} {}\n", name, score_text(score));
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
