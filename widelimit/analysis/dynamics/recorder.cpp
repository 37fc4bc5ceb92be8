#include "widelimit/analysis/dynamics/recorder.hpp"

#include "widelimit/base/memory.hpp"
#include "widelimit/machine/gram/indefinite.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace widelimit {

namespace {

std::span<const double> row_span(MatrixView<const double> m, Index i) {
  return {m.row(i), static_cast<std::size_t>(m.cols)};
}

bool finite_entries(const Matrix<double>& m) {
  return std::all_of(m.data(), m.data() + m.rows() * m.cols(), [](double v) { return std::isfinite(v); });
}

/// Returns the first `rows` rows.
Matrix<double> leading_rows(Matrix<double> m, Index rows) {
  if (m.rows() == rows) return m;
  Matrix<double> result(rows, m.cols(), Content::unset);
  std::copy_n(m.data(), rows * m.cols(), result.data());
  return result;
}

}  // namespace

Objective objective_at(const DynamicsInput& input, const Start& start, const Moment& moment) {
  double norm = 0;
  Objective result;
  for (Index i = 0; i < input.samples; ++i) {
    result.loss += loss_value(input.loss, row_span(moment.g.view(), i), row_span(input.targets, i));
    for (Index j = 0; j < input.targets.cols; ++j) {
      const double outside = start.offset.rows > 0 ? moment.offset_left * start.offset(i, j) : 0.0;
      norm += moment.alpha(i, j) * (moment.g(i, j) + outside);
    }
  }
  result.objective = input.lambda / 2 * norm + result.loss;
  return result;
}

Recorder::Recorder(const DynamicsInput& input, const Start& start, const Recording& recording, Index moments,
                   const Engine& engine)
    : input_(input), start_(start), recording_(recording), engine_(engine) {
  if (recording.test) {
    test_ = engine.algebra().hold(*recording.test);
    tests_ = test_.rows();
  }
  result_.outputs = input.targets.cols;
  if (recording.samples) {
    result_.samples = *recording.samples;
  } else {
    result_.samples.resize(static_cast<std::size_t>(input.samples));
    std::iota(result_.samples.begin(), result_.samples.end(), Index{0});
  }
  const Index kept = std::ssize(result_.samples) + tests_ + (recording.coefficients ? input.samples : 0);
  require_memory(8.0 * static_cast<double>(moments) * static_cast<double>(kept * result_.outputs), std::nullopt,
                 "the outputs of all recorded moments", "record fewer moments, samples or test points");
  result_.train = Matrix<double>(moments, std::ssize(result_.samples) * result_.outputs, Content::unset);
  result_.test = Matrix<double>(moments, tests_ * result_.outputs, Content::unset);
  if (recording.coefficients) {
    result_.coefficients = Matrix<double>(moments, input.samples * result_.outputs, Content::unset);
  }
  result_.alpha = dense_or_zero(start.alpha, input.samples, result_.outputs);
  test_now_ = Matrix<double>(tests_, result_.outputs);
}

bool Recorder::add(const Moment& moment) {
  if (tests_ > 0) {
    engine_.algebra().multiply(Transpose::no, test_, moment.alpha.view(), test_now_.view());
    for (Index i = 0; i < start_.test_offset.rows; ++i) {
      for (Index j = 0; j < result_.outputs; ++j) {
        test_now_(i, j) += moment.offset_left * start_.test_offset(i, j);
      }
    }
  }
  const Objective now = objective_at(input_, start_, moment);
  if (!std::isfinite(now.objective) || !finite_entries(moment.alpha) || !finite_entries(test_now_)) return false;
  const Index row = std::ssize(result_.times);
  double* to = result_.train.view().row(row);
  for (const Index i : result_.samples) to = std::copy_n(moment.g.view().row(i), result_.outputs, to);
  std::copy_n(test_now_.data(), tests_ * result_.outputs, result_.test.view().row(row));
  const Index all = input_.samples * result_.outputs;
  if (recording_.coefficients) std::copy_n(moment.alpha.data(), all, result_.coefficients.view().row(row));
  std::copy_n(moment.alpha.data(), all, result_.alpha.data());
  result_.offset_left = moment.offset_left;
  result_.times.push_back(moment.time);
  result_.objective.push_back(now.objective);
  result_.loss.push_back(now.loss);
  result_.summary.primal = now.objective;
  return true;
}

Trajectory Recorder::finish() && {
  const Index rows = std::ssize(result_.times);
  result_.train = leading_rows(std::move(result_.train), rows);
  result_.test = leading_rows(std::move(result_.test), rows);
  if (recording_.coefficients) result_.coefficients = leading_rows(std::move(result_.coefficients), rows);
  return std::move(result_);
}

Trajectory without_machine(Trajectory trajectory, const GramMatrix& k, Progress* progress) {
  trajectory.summary.ending = Ending::not_positive_definite;
  trajectory.summary.method = "not started";
  trajectory.summary.message = diagonal_shift_advice(k, progress);
  return trajectory;
}

}  // namespace widelimit
