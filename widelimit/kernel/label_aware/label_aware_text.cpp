#include "widelimit/kernel/label_aware/label_aware_text.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>

namespace widelimit {

LabelAwareText label_aware_text(const LabelAware& aware) {
  LabelAwareText text;
  text.json = {{"method", to_string(aware.method)},
               {"target", to_string(aware.target)},
               {"ratio", aware.ratio},
               {"lambda", aware.lambda}};
  if (const auto* smoother = std::get_if<PairSmoother>(&aware.estimate)) {
    text.json["centre"] = smoother->centre;
    text.json["half_width"] = smoother->half_width;
    text.json["numerator"] = smoother->numerator;
    text.json["denominator"] = smoother->denominator;
    return text;
  }
  const auto& regression = std::get<PairRegression>(aware.estimate);
  const PairBasis& basis = regression.basis;
  text.json["kernel_scale"] = regression.kernel_scale;
  text.json["mean_square"] = basis.mean_square;
  text.json["coefficients"] = regression.coefficients;
  text.json["own"] = regression.own.size();
  if (!regression.own.empty()) text.json["own_names"] = regression.own;
  text.json["rank"] = regression.rank;
  text.json["explained"] = regression.explained;
  const Index count = basis.components.rows();
  if (count == 0) return text;
  text.directions = Matrix<double>(count + 1, basis.components.cols(), Content::unset);
  std::copy_n(basis.components.data(), count * basis.components.cols(), text.directions.data());
  std::copy(basis.centre.begin(), basis.centre.end(), text.directions.view().row(count));
  return text;
}

LabelAware parse_label_aware(const nlohmann::ordered_json& json, const Matrix<double>& directions) {
  LabelAware aware;
  try {
    aware.method = parse_label_aware_method(json.at("method").get<std::string>());
    aware.target = parse_pair_target(json.at("target").get<std::string>());
    aware.ratio = json.at("ratio").get<double>();
    aware.lambda = json.at("lambda").get<double>();
    if (!reads_samples(aware.method)) {
      aware.estimate = PairSmoother{.centre = json.at("centre").get<double>(),
                                    .half_width = json.at("half_width").get<double>(),
                                    .numerator = json.at("numerator").get<std::array<double, 3>>(),
                                    .denominator = json.at("denominator").get<std::array<double, 3>>()};
    } else {
      PairRegression regression{.basis = {.mean_square = json.at("mean_square").get<double>()},
                                .kernel_scale = json.at("kernel_scale").get<double>(),
                                .coefficients = json.at("coefficients").get<std::vector<double>>(),
                                .own = json.value("own_names", std::vector<std::string>()),
                                .rank = json.at("rank").get<Index>(),
                                .explained = json.at("explained").get<double>()};
      if (json.at("own").get<std::size_t>() != regression.own.size()) {
        fail(Code::input, "the label-aware part of the kernel is damaged (own_names)");
      }
      if (const Index count = directions.rows() - 1; count > 0) {
        regression.basis.components = Matrix<double>(count, directions.cols(), Content::unset);
        std::copy_n(directions.data(), count * directions.cols(), regression.basis.components.data());
        const double* last = directions.view().row(count);
        regression.basis.centre.assign(last, last + directions.cols());
      }
      aware.estimate = std::move(regression);
    }
  } catch (const nlohmann::json::exception& error) {
    fail(Code::input, "the label-aware part of the kernel is damaged ({})", error.what());
  }
  aware.validate();
  return aware;
}

}  // namespace widelimit
