#include "widelimit/analysis/dynamics/dynamics_input.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/machine/fit.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace widelimit {

namespace {

void check_sign_targets(const DynamicsInput& input) {
  for (Index i = 0; i < input.samples; ++i) {
    for (Index j = 0; j < input.targets.cols; ++j) {
      if (std::abs(input.targets(i, j)) != 1) {
        fail(Code::input, "the {} loss needs labels 1 or -1; target {} of sample {} is {}", to_string(input.loss.kind),
             j, i, input.targets(i, j));
      }
    }
  }
}

void check_one_hot(const DynamicsInput& input) {
  for (Index i = 0; i < input.samples; ++i) {
    const double* row = input.targets.row(i);
    const Index ones = std::count(row, row + input.targets.cols, 1.0);
    if (ones != 1 || std::count(row, row + input.targets.cols, 0.0) != input.targets.cols - 1) {
      fail(Code::input, "the softmax loss needs one-hot targets, one column per class; row {} is not one-hot", i);
    }
  }
}

void check_start(MatrixView<const double> part, Index rows, Index cols, std::string_view what) {
  if (part.rows == 0) return;
  if (part.rows != rows || part.cols != cols) {
    fail(Code::input, "{} is {} by {}; it must be {} by {}", what, part.rows, part.cols, rows, cols);
  }
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (!std::isfinite(part(i, j))) fail(Code::input, "entry ({}, {}) of {} is {}", i, j, what, part(i, j));
    }
  }
}

/// Returns the number of rows of K(test, train) after checking columns and finite entries.
Index check_test(const AnyView& test, Index samples) {
  return std::visit(
      [&](const auto& k) {
        if (k.cols != samples) {
          fail(Code::input, "the test kernel has {} columns for {} training samples", k.cols, samples);
        }
        for (Index i = 0; i < k.rows; ++i) {
          const auto* bad = std::find_if(k.row(i), k.row(i) + k.cols, [](auto entry) { return !std::isfinite(entry); });
          if (bad != k.row(i) + k.cols) {
            fail(Code::input, "entry ({}, {}) of the test kernel is {}", i, bad - k.row(i), *bad);
          }
        }
        return k.rows;
      },
      test);
}

}  // namespace

void check_lambda(double lambda) {
  if (!std::isfinite(lambda) || lambda < 0) {
    fail(Code::input, "lambda is {}; it must be finite and not negative", lambda);
  }
}

void check_dynamics(const DynamicsInput& input, const Start& start, const Recording& recording) {
  input.loss.validate();
  check_lambda(input.lambda);
  check_targets(input.targets, input.samples);
  const LossKind kind = input.loss.kind;
  if (kind == LossKind::hinge || kind == LossKind::squared_hinge || kind == LossKind::logistic) {
    check_sign_targets(input);
  }
  if (kind == LossKind::softmax) check_one_hot(input);
  const Index tests = recording.test ? check_test(*recording.test, input.samples) : 0;
  check_start(start.alpha, input.samples, input.targets.cols, "the matrix of starting coefficients");
  check_start(start.offset, input.samples, input.targets.cols, "the matrix of starting outputs");
  check_start(start.test_offset, tests, input.targets.cols, "the matrix of starting outputs of test points");
  if (!recording.samples) return;
  for (const Index i : *recording.samples) {
    if (i < 0 || i >= input.samples)
      fail(Code::input, "recorded sample {} is out of range; there are {} samples", i, input.samples);
  }
}

Matrix<double> dense_or_zero(MatrixView<const double> from, Index rows, Index cols) {
  Matrix<double> result(rows, cols);
  for (Index i = 0; i < from.rows; ++i) std::copy_n(from.row(i), cols, result.view().row(i));
  return result;
}

}  // namespace widelimit
