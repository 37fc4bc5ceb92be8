#include "app/fit/network_probabilities.hpp"

#include "widelimit/machine/probability/probability.hpp"

#include <nlohmann/json.hpp>

namespace widelimit::app {

Matrix<double> network_probabilities(LossKind loss, const Matrix<double>& outputs) {
  if (loss == LossKind::softmax && outputs.cols() > 1) return softmax_probabilities(outputs);
  return loss == LossKind::logistic && outputs.cols() == 1 ? logistic_probabilities(outputs) : Matrix<double>();
}

Matrix<double> network_probabilities(const NetworkNotes& notes, const Matrix<double>& outputs) {
  const auto settings = nlohmann::json::parse(notes.record, nullptr, false);
  if (notes.classes.empty() || !settings.is_object()) return {};
  const std::string trained = settings.value("loss", "");
  for (const LossKind loss : {LossKind::softmax, LossKind::logistic}) {
    if (trained == to_string(loss)) return network_probabilities(loss, outputs);
  }
  return {};
}

}  // namespace widelimit::app
