#pragma once

#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/parameters.hpp"
#include "widelimit/finite/training/batches.hpp"
#include "widelimit/finite/training/evaluator.hpp"
#include "widelimit/finite/training/loss.hpp"
#include "widelimit/finite/training/stable_rate.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/finite/training/train_record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// Stream of the seeds of each step's dropout masks, disjoint from the streams of weights and batches.
inline constexpr std::uint64_t dropout_seed_stream = (std::uint64_t{1} << 49) + 1;

/// The state of a training run by `train`.
template <std::floating_point T>
class Trainer {
 public:
  Trainer(const Architecture& architecture, const TrainData& data, const TrainOptions& options, const Engine& engine);

  /// `trained`: passed to checkpoints, without its weights.
  void descend(TrainedNetwork& trained);
  void flow();

  /// Moves the results to `trained`.
  void finish(TrainedNetwork& trained);

 private:
  void take_steps(TrainedNetwork& trained);
  /// Returns whether no step was taken yet.
  [[nodiscard]] bool at_start() const { return summary_.steps == options_.initial_step; }
  /// Outputs z and slopes of the evaluator's current samples.
  struct BatchValues {
    Matrix<double> outputs;
    Matrix<double> slopes;
    double loss = 0;  ///< including auxiliary terms
  };

  void evaluate_batch(std::span<const Index> batch, const std::optional<DropoutDraw>& dropout);
  void observe(std::span<const Index> batch, double rate) const;
  /// Computes the gradient at the current samples and takes a step.
  void step(std::span<const Index> batch, double rate);
  [[nodiscard]] std::uint64_t samples_checksum() const;
  void export_state(TrainedNetwork& trained, bool with_state);
  void import_state(TrainedNetwork& trained);
  void checkpoint(TrainedNetwork& trained);
  [[nodiscard]] bool checkpoint_due() const;
  void resume(const TrainedNetwork& from);
  void record();
  void record_test();
  double penalty() const;
  Matrix<double> evaluate(const Tensor<T>& x, const std::vector<double>& base);
  double loss_of(const Matrix<double>& outputs, MatrixView<const double> targets) const;
  [[nodiscard]] RateProblem rate_problem() const;
  /// Returns the default learning rate.
  [[nodiscard]] double default_learning_rate() const;
  /// Returns whether to stop; sets the ending if outputs or loss are not finite or too large.
  bool diverged();
  /// Returns whether to stop because no gradient separates the samples any more, according to the last record.
  bool died(bool last);
  void check_end();
  /// Returns whether f is the same at all training samples; `outputs` have f₀ subtracted if centred.
  [[nodiscard]] bool constant_outputs(const Matrix<double>& outputs) const;
  [[nodiscard]] bool targets_differ() const;
  /// Returns e.g. "a smaller learning rate, about 0.1 at most".
  [[nodiscard]] std::string rate_advice() const;
  /// Number of outputs per record.
  [[nodiscard]] Index recorded_numbers() const;
  void save_state();
  void restore_state();
  /// w ← (w_before + w)/2, and likewise for the auxiliary variables.
  void average_with_state();

  const Architecture& architecture_;
  const TrainOptions& options_;
  MatrixView<const double> targets_;
  MatrixView<const double> test_targets_;
  const Engine& engine_;
  Index samples_;
  Index outputs_;
  Tensor<T> x_;
  Tensor<T> test_;
  Parameters<T> start_;
  Parameters<T> w_;
  Parameters<T> velocity_;  ///< for momentum and Adam
  Parameters<T> squares_;   ///< for Adam
  Parameters<T> before_;    ///< flow: state at the start of a step
  Evaluator<T> evaluator_;
  Evaluator<T> record_evaluator_;  ///< for samples outside the step
  std::vector<double> base_;       ///< f₀, n × outputs, zero unless centred
  std::vector<double> test_base_;
  std::vector<double> aux_;  ///< b, n × outputs, for `aux`
  std::vector<double> aux_before_;
  std::vector<double> aux_velocity_;
  std::vector<Index> all_;
  std::vector<double> shifted_;  ///< outputs of one sample including auxiliary terms
  Values<T> scratch_;
  BatchValues batch_values_;
  bool constant_ = false;  ///< whether f is the same at all training samples, at the last record
  double first_loss_ = 0;
  double first_objective_ = 0;
  TrainingRecord record_;
  TrainSummary summary_;
};

}  // namespace widelimit
