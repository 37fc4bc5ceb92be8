#include "widelimit/report/scores.hpp"

#include "widelimit/analysis/margins.hpp"

#include <fmt/format.h>

namespace widelimit {

namespace {

/// How well the one output of a machine of two classes orders samples.
std::optional<Roc> roc_of(const Matrix<double>& decisions, const std::vector<Index>& labels) {
  std::vector<bool> second;
  for (const Index label : labels) second.push_back(label == 1);
  return roc({decisions.data(), labels.size()}, second);
}

}  // namespace

std::optional<Score> score(Scheme scheme, Index classes, const Matrix<double>& decisions, const Dataset& data) {
  Score result;
  result.samples = data.count();
  if (scheme == Scheme::values) {
    if (data.targets.empty() || result.samples == 0) return std::nullopt;
    double sum = 0;
    for (Index i = 0; i < result.samples; ++i) {
      const double error = data.targets[static_cast<std::size_t>(i)] - decisions(i, 0);
      sum += error * error / static_cast<double>(result.samples);
    }
    result.squared_error = sum;
    return result;
  }
  if (data.labels.empty()) return std::nullopt;
  const auto size = static_cast<std::size_t>(classes);
  result.confusion.assign(size, std::vector<Index>(size, 0));
  const std::vector<Index> told = classes_of(scheme, classes, decisions.view());
  for (std::size_t i = 0; i < told.size(); ++i) {
    result.correct += told[i] == data.labels[i] ? 1 : 0;
    ++result.confusion[static_cast<std::size_t>(data.labels[i])][static_cast<std::size_t>(told[i])];
  }
  result.margins = margins(scheme, classes, decisions.view(), data.labels);
  if (scheme == Scheme::sign) result.roc = roc_of(decisions, data.labels);
  return result;
}

std::string score_text(const Score& score) {
  if (score.squared_error) return fmt::format("mean squared error {:.4g}", *score.squared_error);
  const std::string area = score.roc ? fmt::format(", AUC {:.6g}", score.roc->area) : "";
  return fmt::format("accuracy {:.4f} ({} of {})", score.accuracy(), score.correct, score.samples) + area;
}

nlohmann::ordered_json score_json(const Score& score) {
  nlohmann::ordered_json json{{"samples", score.samples}};
  if (score.squared_error) {
    json["squared_error"] = *score.squared_error;
  } else {
    json["accuracy"] = score.accuracy();
    json["correct"] = score.correct;
    if (score.roc) json["auc"] = score.roc->area;
    json["confusion"] = score.confusion;
  }
  return json;
}

}  // namespace widelimit
