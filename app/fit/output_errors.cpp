#include "app/fit/output_errors.hpp"

#include <fmt/format.h>

#include <cmath>

namespace widelimit::app {

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
