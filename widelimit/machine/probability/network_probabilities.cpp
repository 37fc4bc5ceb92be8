#include "widelimit/machine/probability/network_probabilities.hpp"

#include "widelimit/machine/probability/probability.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace widelimit {

Matrix<double> network_probabilities(LossKind loss, const Matrix<double>& outputs) {
  if (loss == LossKind::softmax && outputs.cols() > 1) return softmax_probabilities(outputs);
  return loss == LossKind::logistic && outputs.cols() == 1 ? logistic_probabilities(outputs) : Matrix<double>();
}

Matrix<double> network_probabilities(const NetworkNotes& notes, const Matrix<double>& outputs) {
  const std::optional<LossKind> loss = trained_loss(notes);
  return loss && !notes.classes.empty() ? network_probabilities(*loss, outputs) : Matrix<double>();
}

std::optional<LossKind> trained_loss(const NetworkNotes& notes) {
  const auto settings = nlohmann::json::parse(notes.record, nullptr, false);
  if (!settings.is_object() || !settings.contains("loss") || !settings["loss"].is_string()) return std::nullopt;
  const auto trained = settings["loss"].get<std::string>();
  for (const LossKind loss : {LossKind::squared, LossKind::hinge, LossKind::squared_hinge, LossKind::insensitive,
                              LossKind::logistic, LossKind::softmax}) {
    if (trained == to_string(loss)) return loss;
  }
  return std::nullopt;
}

}  // namespace widelimit
