#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace widelimit::experiment {

/// Values of a published table: one row per method, one column per task.
struct PublishedTable {
  std::vector<std::string> tasks;
  std::vector<std::pair<std::string, std::vector<std::optional<double>>>> lines;  ///< one value per task

  /// Returns the value, or std::nullopt if the table has no such row or task, or no value there.
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
