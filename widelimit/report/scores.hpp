#pragma once

#include "widelimit/analysis/roc.hpp"
#include "widelimit/data/dataset.hpp"
#include "widelimit/machine/machine.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// Scores of decisions against the known labels or targets of the samples.
struct Score {
  Index samples = 0;
  Index correct = 0;                          ///< classes
  std::optional<double> squared_error;        ///< numbers: mean of (y − g)²
  std::vector<std::vector<Index>> confusion;  ///< [true class][predicted class]
  std::optional<Roc> roc;                     ///< two classes, both of which occur
  std::vector<double> margins;                ///< of each sample; classes

  [[nodiscard]] double accuracy() const {
    return samples == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(samples);
  }
};

/// Nothing where the samples have neither labels nor targets.
[[nodiscard]] std::optional<Score> score(Scheme scheme, Index classes, const Matrix<double>& decisions,
                                         const Dataset& data);

/// "accuracy 0.9861 (1229 of 1247)", of two classes with ", AUC 0.9987", or "mean squared error 0.12".
[[nodiscard]] std::string score_text(const Score& score);
[[nodiscard]] nlohmann::ordered_json score_json(const Score& score);

}  // namespace widelimit
