#pragma once

#include "app/fit/fit_options.hpp"

#include "widelimit/analysis/bounds/rademacher_bound.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

/// `bound` as typed.
struct BoundChoice {
  FitOptions fit;  ///< kernel, data and machine
  std::optional<std::string> model;
  double delta = RademacherOptions{}.delta;
  std::optional<std::string> loss;
  std::optional<double> clip;
  std::vector<Index> sizes;
  std::optional<std::uint64_t> random_labels;  ///< seed
  std::optional<double> flip;

  /// Error{usage} for contradictions, Error{input} for numbers out of range.
  void validate() const;
  [[nodiscard]] RademacherOptions bound_options() const;
  [[nodiscard]] nlohmann::ordered_json settings(const KernelRequest& request, const DataRequest& data) const;
};

void add_bound_options(CLI::App& verb, BoundChoice& choice);

}  // namespace widelimit::app
