#pragma once

#include "app/fit/machine_kernels.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/options.hpp"

#include "widelimit/analysis/dynamics/descend.hpp"
#include "widelimit/analysis/dynamics/flow.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

/// `flow` as typed.
struct FlowChoice {
  CommonOptions common;
  DataChoice data;
  KernelChoice kernel;
  std::string loss = "hinge";
  double epsilon = Loss{}.epsilon;
  double lambda = FlowOptions{}.lambda;
  std::vector<double> times;
  std::optional<double> until;
  std::optional<Index> points;
  double tolerance = FlowOptions{}.tolerance;
  std::optional<double> rate;
  std::optional<std::string> schedule;
  std::optional<Index> steps;
  std::optional<Index> batch;
  std::optional<Index> record_every;
  std::optional<std::vector<Index>> record;
  std::optional<std::string> out;

  /// In steps rather than in time. Error{usage} where options of both are given.
  [[nodiscard]] bool discrete() const;
  [[nodiscard]] Loss parsed_loss() const;
  [[nodiscard]] FlowOptions flow_options() const;
  [[nodiscard]] DescendOptions descend_options() const;
  [[nodiscard]] nlohmann::ordered_json settings(const KernelRequest& request, const DataRequest& data_request) const;
};

void add_flow_options(CLI::App& verb, FlowChoice& choice);

}  // namespace widelimit::app
