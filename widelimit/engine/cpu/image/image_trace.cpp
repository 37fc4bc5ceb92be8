#include "widelimit/engine/cpu/image/image_trace.hpp"

#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit::cpu {

namespace {

long double largest_deviation(const Variances& variance) {
  const long double largest = *std::max_element(variance.begin(), variance.end());
  return largest > 0 ? std::sqrt(largest) : 1;
}

/// Feature 0: r/R before; feature 1: R/r after, set once the variances after the step are known.
Features relative_deviations(const Variances& before, Index places_after) {
  const auto places = std::max(static_cast<Index>(before.size()), places_after);
  Features features = make_features(2, places);
  const long double scale = largest_deviation(before);
  for (std::size_t i = 0; i < before.size(); ++i) {
    features.f64(0, static_cast<Index>(i)) = static_cast<double>(std::sqrt(before[i]) / scale);
  }
  return features;
}

void set_after(Features& features, const Variances& before, const Variances& after) {
  const long double scale = largest_deviation(before);
  for (std::size_t i = 0; i < after.size(); ++i) {
    features.f64(1, static_cast<Index>(i)) = ratio(scale, std::sqrt(after[i]));
  }
}

/// Variances after a window: the mean over the window at equal positions.
Variances windowed(const Step& step, const Variances& before) {
  Variances after(static_cast<std::size_t>(step.after.positions()), 0);
  for (const auto& sources : window_sources(step)) {
    for (std::size_t p = 0; p < after.size(); ++p) {
      if (sources[p] >= 0)
        after[p] += static_cast<long double>(step.scale) * before[static_cast<std::size_t>(sources[p])];
    }
  }
  return after;
}

/// Variances from the covariances of an image with itself, relative to R².
Variances variances_after(PairState& covariance, const Variances& before) {
  const long double scale = largest_deviation(before);
  Variances after;
  for (Index p = 0; p < covariance.positions; ++p) {
    after.push_back(std::max(0.0L, static_cast<long double>(covariance.rho().data[covariance.diagonal(p)])) * scale *
                    scale);
  }
  return after;
}

/// ζ = softmax over keys of Σ(x,x) = ρ r r'.
Matrix<double> attention_weights(PairState& state, const Variances& variance) {
  const Index n = state.positions;
  Matrix<double> zeta(n, n);
  for (Index p = 0; p < n; ++p) {
    double largest = -HUGE_VAL;
    for (Index q = 0; q < n; ++q) {
      zeta(p, q) = static_cast<double>(static_cast<long double>(state.rho()(p, q)) *
                                       std::sqrt(variance[static_cast<std::size_t>(p)]) *
                                       std::sqrt(variance[static_cast<std::size_t>(q)]));
      largest = std::max(largest, zeta(p, q));
    }
    double sum = 0;
    for (Index q = 0; q < n; ++q) sum += zeta(p, q) = std::exp(zeta(p, q) - largest);
    for (Index q = 0; q < n; ++q) zeta(p, q) /= sum;
  }
  return zeta;
}

/// Applies a step that is the same for a pair and for an image with itself.
void run_step(const Step& step, const TracePair& traces, bool self, std::vector<PairState>& stack) {
  PairState& top = stack.back();
  switch (step.op) {
    case Op::window:
      top = window_step(step, traces, top);
      break;
    case Op::flatten:
      top = flatten_step(traces, top);
      break;
    case Op::fork: {
      PairState copy(top.positions, top.all_pairs, top.channels);
      std::copy_n(top.values.data(), top.values.rows() * top.values.cols(), copy.values.data());
      stack.push_back(std::move(copy));
      return;
    }
    case Op::swap:
      std::swap(top, stack[stack.size() - 2]);
      return;
    case Op::join: {
      PairState other = std::move(top);
      stack.pop_back();
      PairState& sum = stack.back();
      if (sum.all_pairs && !other.all_pairs) sum = equal_positions(sum);
      if (!sum.all_pairs && other.all_pairs) other = equal_positions(other);
      apply_everywhere(step, traces, self, &other, sum);
      return;
    }
    case Op::pool:
      top = pool_covariance(step, traces, top), correlate(traces, top);
      break;
    case Op::attend:
      top = attend_covariance(traces, top), correlate(traces, top);
      break;
    default:
      apply_everywhere(step, traces, self, nullptr, top);
      return;
  }
  if (self) mark_equal(stack.back());
}

}  // namespace

PairState image_input(const Recipe& recipe, MatrixView<const double> x1, MatrixView<const double> x2) {
  const Index positions = recipe.input.positions();
  PairState state(positions, recipe.all_pairs, recipe.channels);
  if (recipe.all_pairs) {
    gemm<double>(1, Transpose::no, x1, Transpose::yes, x2, 0, state.rho());
  } else {
    for (Index p = 0; p < positions; ++p) {
      double sum = 0;
      for (Index c = 0; c < x1.cols; ++c) sum += x1(p, c) * x2(p, c);
      state.rho()(0, p) = sum;
    }
  }
  for (Index row = 0; row < state.rows(); ++row) {
    const Strip<double> strip = state.strip(row);
    if (!begin_strip(strip, 0x1p-10)) continue;
    for (Index q = 0; q < positions; ++q) {
      if (!(strip.t[q] < 0x1p-10)) continue;
      const double sign = strip.rho[q] < 0 ? -1.0 : 1.0;
      const double* first = x1.row(recipe.all_pairs ? row : q);
      double sum = 0;
      for (Index c = 0; c < x1.cols; ++c) sum += (first[c] - sign * x2(q, c)) * (first[c] - sign * x2(q, c));
      strip.t[q] = sum / 2;
      strip.rho[q] = sign * (1 - strip.t[q]);
    }
  }
  return state;
}

TracedImage trace_image(const Recipe& recipe, MatrixView<const double> x, const Variances& variance,
                        Precision precision, const EmitImage& emit) {
  TracedImage result;
  DualErrors duals;
  std::vector<Variances> variances{variance};
  std::vector<PairState> stack;
  stack.push_back(image_input(recipe, x, x));
  for (const Step& step : recipe.steps) {
    const Variances before = variances.back();
    Advance advanced;
    Matrix<double> attention;
    switch (step.op) {
      case Op::fork:
        variances.push_back(before);
        break;
      case Op::swap:
        std::swap(variances.back(), variances[variances.size() - 2]);
        break;
      case Op::join:
        advanced = advance_join(variances[variances.size() - 2], before);
        variances.pop_back();
        break;
      case Op::window:
      case Op::flatten:
      case Op::pool:
      case Op::attend: {
        Features& features = advanced.features = relative_deviations(before, step.after.positions());
        if (step.op == Op::attend) attention = attention_weights(stack.back(), before);
        const TracePair own{&features, &features, &attention, &attention};
        if (step.op == Op::window) {
          advanced.variance = windowed(step, before);
        } else if (step.op == Op::flatten) {
          long double sum = 0;
          for (const long double q : before) sum += q;
          advanced.variance = {sum / static_cast<long double>(before.size())};
        } else {
          PairState covariance =
              step.op == Op::pool ? pool_covariance(step, own, stack.back()) : attend_covariance(own, stack.back());
          advanced.variance = variances_after(covariance, before);
        }
        set_after(features, before, advanced.variance);
        check_variances(advanced.variance);
        break;
      }
      case Op::emit:
        advanced.features = make_features(1, 1);
        advanced.features.f64(0, 0) = static_cast<double>(std::sqrt(before[0]));
        break;
      default:
        advanced = advance(recipe, step, before, {quadrature_tolerance(precision), has_errors(duals)});
        break;
    }
    if (!advanced.variance.empty()) variances.back() = std::move(advanced.variance);
    if (step.op == Op::dual) duals.push_back(advanced.error);
    result.trace.features.push_back(std::move(advanced.features));
    result.trace.attention.push_back(std::move(attention));
    const TracePair own{&result.trace.features.back(), &result.trace.features.back(), &result.trace.attention.back(),
                        &result.trace.attention.back()};
    if (step.op == Op::emit) {
      emit(step, own, stack.back());
    } else {
      run_step(step, own, true, stack);
    }
  }
  result.error = quadrature_error(recipe, duals);
  return result;
}

void run_images(const Recipe& recipe, MatrixView<const double> x1, const ImageTrace& trace1,
                MatrixView<const double> x2, const ImageTrace& trace2, const EmitImage& emit) {
  std::vector<PairState> stack;
  stack.push_back(image_input(recipe, x1, x2));
  for (std::size_t k = 0; k < recipe.steps.size(); ++k) {
    const Step& step = recipe.steps[k];
    const TracePair traces{&trace1.features[k], &trace2.features[k], &trace1.attention[k], &trace2.attention[k]};
    if (step.op == Op::emit) {
      emit(step, traces, stack.back());
    } else {
      run_step(step, traces, false, stack);
    }
  }
}

}  // namespace widelimit::cpu
