#pragma once

#include "widelimit/base/matrix.hpp"

#include <vector>

namespace widelimit {

/// What a training showed at chosen steps, one entry each; what does not exist is empty. Outputs are those of the
/// function that is trained: f, or f − f₀ where it is centred, without dropout and without auxiliary terms.
struct TrainingRecord {
  std::vector<Index> steps;
  std::vector<double> times;      ///< Σ of the step sizes so far
  std::vector<double> loss;       ///< Σ l(f(xᵢ), yᵢ) over all training samples
  std::vector<double> objective;  ///< what training lowers: the loss, with auxiliary terms, and the penalty
  std::vector<double> distance;   ///< ‖w − w₀‖
  std::vector<double> accuracy;   ///< where targets are classes
  std::vector<double> test_loss;
  std::vector<double> test_accuracy;
  std::vector<double> outputs;       ///< records × samples × outputs
  std::vector<double> test_outputs;  ///< records × test samples × outputs

  [[nodiscard]] Index count() const { return static_cast<Index>(steps.size()); }
};

/// When to record, the first place, 0, and the last, `total`, always among them.
class RecordSchedule {
 public:
  /// At most `records` times, evenly spread over [0, total].
  RecordSchedule(double total, Index records);
  /// At these steps, which rise and stay within 0 and `total`.
  RecordSchedule(Index total, const std::vector<Index>& steps);
  /// The place of the next record.
  [[nodiscard]] double next() const;
  [[nodiscard]] bool done() const { return taken_ >= records_; }
  [[nodiscard]] Index count() const { return records_; }
  /// Whether `at` has come to the next place; takes that place and any before `at`.
  bool due(double at);

 private:
  double total_;
  Index records_;
  Index taken_ = 0;
  std::vector<Index> chosen_;  ///< all places; empty where they are evenly spread
};

/// As many of `records` as keep outputs of `numbers` each within the memory that records may take, 256 MiB, but at
/// least the first and the last.
[[nodiscard]] Index bounded_records(Index records, Index numbers);

}  // namespace widelimit
