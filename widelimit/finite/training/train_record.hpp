#pragma once

#include "widelimit/base/matrix.hpp"

#include <vector>

namespace widelimit {

/// Quantities recorded at selected steps, one entry each; unavailable ones are empty. Outputs are those of the trained
/// function: f, or f − f₀ if centred, without dropout and without auxiliary terms.
struct TrainingRecord {
  std::vector<Index> steps;
  std::vector<double> times;      ///< sum of the step sizes so far
  std::vector<double> loss;       ///< Σ l(f(xᵢ), yᵢ) over all training samples
  std::vector<double> objective;  ///< the minimised function: the loss with auxiliary terms, plus the penalty
  std::vector<double> distance;   ///< ‖w − w₀‖
  std::vector<double> accuracy;   ///< if targets are classes
  std::vector<double> test_loss;
  std::vector<double> test_accuracy;
  std::vector<double> outputs;       ///< records × samples × outputs
  std::vector<double> test_outputs;  ///< records × test samples × outputs

  [[nodiscard]] Index count() const { return static_cast<Index>(steps.size()); }
};

/// Schedule of records, always including the first position, 0, and the last, `total`.
class RecordSchedule {
 public:
  /// At most `records` records, evenly spaced over [0, total].
  RecordSchedule(double total, Index records);
  /// Records at these steps, which are ascending and within 0 and `total`.
  RecordSchedule(Index total, const std::vector<Index>& steps);
  /// Returns the position of the next record.
  [[nodiscard]] double next() const;
  [[nodiscard]] bool done() const { return taken_ >= records_; }
  [[nodiscard]] Index count() const { return records_; }
  /// Returns whether `at` has reached the next position; consumes it and all positions before `at`.
  bool due(double at);

 private:
  double total_;
  Index records_;
  Index taken_ = 0;
  std::vector<Index> chosen_;  ///< all positions; empty if evenly spaced
};

/// Returns `records`, reduced so that outputs of `numbers` each fit into the memory limit of records, 256 MiB, but at
/// least the first and the last.
[[nodiscard]] Index bounded_records(Index records, Index numbers);

}  // namespace widelimit
