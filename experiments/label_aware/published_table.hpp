#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace widelimit::experiment {

/// Numbers of a published table: a line for each method, a column for each task.
struct PublishedTable {
  std::vector<std::string> tasks;
  std::vector<std::pair<std::string, std::vector<std::optional<double>>>> lines;  ///< as many numbers as tasks

  /// Nothing where the table has no such line or task, or no number there.
  [[nodiscard]] std::optional<double> at(const std::string& line, const std::string& task) const {
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t] != task) continue;
      for (const auto& [name, numbers] : lines) {
        if (name == line) return numbers[t];
      }
    }
    return std::nullopt;
  }
};

}  // namespace widelimit::experiment
