#include "widelimit/engine/cpu/plane/plane_trace.hpp"

#include "widelimit/engine/cpu/plane/plane_runner.hpp"
#include "widelimit/engine/cpu/vector/apply.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit::cpu {

namespace {

constexpr auto lanes = static_cast<std::size_t>(plane_lanes);

/// Variances relative to R², index 16p + lane, and R.
struct LaneVariances {
  std::vector<double> values;
  std::array<long double, lanes> scale{};
};

LaneNumbers filled(double value) {
  LaneNumbers numbers;
  numbers.fill(value);
  return numbers;
}

LaneNumbers largest_of(const std::vector<double>& values) {
  LaneNumbers largest = filled(0);
  for (std::size_t k = 0; k < values.size(); ++k) largest[k % lanes] = std::max(largest[k % lanes], values[k]);
  return largest;
}

/// Window sums of variances at equal positions: the plane of displacement 0.
std::vector<double> windowed(const Step& step, const std::vector<double>& values, double scale) {
  const Plane plane = make_plane(step.after, 0, 0, false);
  std::vector<double> result(static_cast<std::size_t>(plane.size()));
  std::vector<double> scratch(static_cast<std::size_t>((step.size.height + 2) * plane.cols * plane_lanes));
  const PlaneWindow window{step.size, step.strides, step.offset, step.circular, step.before.height, step.before.width};
  plane_passes<double>().window(window, scale, plane, {const_cast<double*>(values.data()), 0, 0}, {result.data(), 0, 0},
                                scratch.data());
  return result;
}

template <typename T>
class Tracer {
 public:
  Tracer(const Recipe& recipe, const PlaneProgram& program, Precision precision, GroupTrace<double>& trace)
      : recipe_(recipe), program_(program), tolerance_(quadrature_tolerance(precision)), trace_(trace) {}

  void run(const SampleView& x, Index first) {
    stack_.push_back(read(x, first));
    bool runs = false;
    for (const PlaneStage& stage : program_.stages) {
      runs |= stage.variance_after && stage.last.op == Op::pool;
    }
    doubles_ = runs || std::is_same_v<T, double>;
    PlaneRunner<double> runner(program_, recipe_.input.channels);
    if (runs) runner.begin({&trace_, {&trace_, 0, true}, true});
    for (std::size_t s = 0; s < program_.stages.size(); ++s) {
      const PlaneStage& stage = program_.stages[s];
      trace_.ops.emplace_back();
      trace_.begin_scale.push_back(scale_of(stack_.back()));
      for (const PlaneOp& op : stage.ops) trace_.ops.back().push_back(advance_op(op));
      if (stage.ending == StageEnd::emit) break;
      std::vector<double>& values = stack_.back().values;
      if (runs && stage.variance_after) {
        runner.run_stage(s);
        values = runner.variances();
      } else if (stage.last.op == Op::flatten) {
        values = mean(values);
      } else {
        values.assign(static_cast<std::size_t>(stage.last.after.positions() * plane_lanes), 0.0);
      }
      runs = runs && std::any_of(program_.stages.begin() + static_cast<std::ptrdiff_t>(s) + 1, program_.stages.end(),
                                 [](const PlaneStage& later) { return later.variance_after; });
    }
    trace_.scale = scale_of(stack_.back());
  }

  [[nodiscard]] double error() const { return quadrature_error(recipe_, duals_); }

 private:
  /// Values this small, far below the square of the unit roundoff, count as 0, so that reciprocals and their products
  /// stay in range.
  static constexpr double vanishing = std::is_same_v<T, float> ? 0x1p-60 : 0x1p-400;

  static double rounded(double value) { return static_cast<double>(static_cast<T>(value)); }
  static double inverse(double deviation) { return deviation > vanishing ? 1 / deviation : 0.0; }

  LaneVariances read(const SampleView& x, Index first) {
    const Index channels = recipe_.input.channels;
    const Index size = recipe_.input.size();
    const Index positions = recipe_.input.positions();
    LaneVariances result{std::vector<double>(static_cast<std::size_t>(positions * plane_lanes)), {}};
    trace_.x = Matrix<double>(1, size * plane_lanes);
    std::visit(
        [&](const auto& rows) {
          std::vector<double> squares(static_cast<std::size_t>(positions));
          for (Index lane = 0; lane < plane_lanes; ++lane) {
            const auto* row = rows.row(std::min(first + lane, rows.rows - 1));
            double largest = 0;
            for (Index k = 0; k < size; ++k) largest = std::max(largest, std::abs(static_cast<double>(row[k])));
            const int exponent = largest > 0 ? std::clamp(std::ilogb(largest), -1000, 1000) : 0;
            const double unit = std::ldexp(1.0, -exponent);
            double most = 0;
            for (Index p = 0; p < positions; ++p) {
              double sum = 0;
              for (Index k = p * channels; k < (p + 1) * channels; ++k) {
                const double value = static_cast<double>(row[k]) * unit;
                sum += value * value;
              }
              most = std::max(most, sum);
            }
            const double factor = most > 0 ? unit / std::sqrt(most) : 0.0;
            for (Index p = 0; p < positions; ++p) {
              double sum = 0;
              for (Index k = p * channels; k < (p + 1) * channels; ++k) {
                const double value = rounded(static_cast<double>(row[k]) * factor);
                trace_.x.data()[k * plane_lanes + lane] = value;
                sum += value * value;
              }
              result.values[static_cast<std::size_t>(p * plane_lanes + lane)] = sum;
            }
            const long double deviation =
                std::sqrt(static_cast<long double>(most) / static_cast<long double>(channels));
            result.scale[static_cast<std::size_t>(lane)] = most > 0 ? std::ldexp(deviation, exponent) : 1.0L;
          }
        },
        x.dense("networks that read positions"));
    return result;
  }

  static std::vector<double> mean(const std::vector<double>& values) {
    std::vector<double> result(lanes, 0.0);
    for (std::size_t k = 0; k < values.size(); ++k) result[k % lanes] += values[k];
    for (double& value : result) value *= static_cast<double>(lanes) / static_cast<double>(values.size());
    return result;
  }

  OpTrace advance_op(const PlaneOp& op) {
    OpTrace trace{{}, filled(1), filled(0), filled(1), true};
    LaneVariances& top = stack_.back();
    switch (op.main.op) {
      case Op::window:
        top.values = windowed(op.main, top.values, op.main.scale);
        break;
      case Op::affine:
        affine(op.main, 1.0, trace, top);
        break;
      case Op::dual:
        if (op.rectifies) {
          rectifier(op, trace, top);
        } else {
          smooth(op.main, trace, top);
        }
        break;
      case Op::layer_norm:
        trace.features = make_features(1, static_cast<Index>(top.values.size()));
        for (std::size_t k = 0; k < top.values.size(); ++k) {
          const double v = inverse(std::sqrt(top.values[k]));
          trace.features.f64.data()[k] = v;
          top.values[k] = v > 0 ? 1 : 0;
        }
        top.scale.fill(1);
        break;
      case Op::dropout:
        for (double& value : top.values) value /= op.main.rate;
        break;
      case Op::fork:
        stack_.push_back(LaneVariances(top));
        break;
      case Op::swap:
        std::swap(top, stack_[stack_.size() - 2]);
        break;
      case Op::join:
        join(trace);
        break;
      default:
        break;
    }
    check_scale(stack_.back());
    return trace;
  }

  /// Σ̂ ← w²·scale·(sum Σ̂)·R²/R_new² + b²/R_new²; without bias R absorbs the whole factor.
  static void affine(const Step& step, double scale, OpTrace& trace, LaneVariances& top) {
    const long double w = std::sqrt(static_cast<long double>(step.w2) * static_cast<long double>(scale));
    for (std::size_t l = 0; l < lanes; ++l) {
      const long double scaled = w * top.scale[l];
      const auto b = std::sqrt(static_cast<long double>(step.b2));
      long double now =
          step.b2 > 0 ? std::hypot(std::sqrt(static_cast<long double>(step.w2)) * top.scale[l], b) : scaled;
      if (!(now > 0)) now = 1;
      trace.gain[l] = static_cast<double>(scaled / now);
      trace.constant[l] = static_cast<double>(b / now);
      trace.plain &= trace.gain[l] == 1 && trace.constant[l] == 0;
      top.scale[l] = now;
    }
    for (std::size_t k = 0; k < top.values.size(); ++k) {
      const double g = trace.gain[k % lanes];
      const double c = trace.constant[k % lanes];
      top.values[k] = g * g * top.values[k] + c * c;
    }
  }

  void rectifier(const PlaneOp& op, OpTrace& trace, LaneVariances& top) {
    const double scale = op.window ? op.window->scale : 1.0;
    if (op.window) top.values = windowed(*op.window, top.values, 1.0);
    duals_.push_back({.growth = 1});
    affine(op.affine.value_or(Step{}), scale, trace, top);
    const double slope = *rectifier_slope(op.main.dual);
    const double half = (1 + slope * slope) / 2;
    const LaneNumbers largest = largest_of(top.values);
    // R after is R before times σ_w and the factor of the slope, so that Θ̂ is only multiplied by the scale of the
    // window, unless the deviations have drifted too far or a bias requires gains anyway.
    LaneNumbers unit;
    for (std::size_t l = 0; l < lanes; ++l) {
      const double next = largest[l] * scale;
      trace.plain &= next == 0 || (next > 0x1p-30 && next < 0x1p30);
    }
    for (std::size_t l = 0; l < lanes; ++l) {
      unit[l] = trace.plain || largest[l] == 0 ? std::sqrt(scale) : 1 / std::sqrt(largest[l]);
      trace.theta[l] = unit[l];
      top.scale[l] *= static_cast<long double>(std::sqrt(half) / unit[l]);
    }
    if (doubles_) {
      put_deviations(trace.features.f64, unit, top);
    } else {
      put_deviations(trace.features.f32, unit, top);
    }
  }

  template <typename F>
  static void put_deviations(Matrix<F>& features, const LaneNumbers& unit, LaneVariances& top) {
    features = Matrix<F>(2, static_cast<Index>(top.values.size()) + plane_lanes);
    F* v = features.data();
    F* r = v + features.cols();
    for (std::size_t k = 0; k < top.values.size(); ++k) {
      const double deviation = std::sqrt(top.values[k]);
      const double reciprocal = inverse(deviation);
      const double after = reciprocal > 0 ? rounded(deviation * unit[k % lanes]) : 0.0;
      v[k] = static_cast<F>(reciprocal);
      r[k] = static_cast<F>(after);
      top.values[k] = after * after;
    }
  }

  void smooth(const Step& step, OpTrace& trace, LaneVariances& top) {
    const std::size_t places = top.values.size();
    Variances absolute(places);
    for (std::size_t k = 0; k < places; ++k) {
      absolute[k] = static_cast<long double>(top.values[k]) * top.scale[k % lanes] * top.scale[k % lanes];
    }
    const Advance advanced = advance(recipe_, step, absolute, {tolerance_, has_errors(duals_)});
    duals_.push_back(advanced.error);
    const Index own = advanced.features.f64.rows();
    trace.features = make_features(own + 2, static_cast<Index>(places));
    std::copy_n(advanced.features.f64.data(), own * advanced.features.f64.cols(), trace.features.f64.data());
    trace.features.terms = advanced.features.terms;
    trace.features.function = advanced.features.function;
    double* v = trace.features.f64.data() + own * trace.features.f64.cols();
    double* r = v + trace.features.f64.cols();
    std::array<long double, lanes> largest{};
    for (std::size_t k = 0; k < places; ++k) {
      largest[k % lanes] = std::max(largest[k % lanes], std::sqrt(advanced.variance[k]));
    }
    for (long double& scale : largest) scale = scale > 0 ? scale : 1;
    for (std::size_t k = 0; k < places; ++k) {
      v[k] = inverse(std::sqrt(top.values[k]));
      r[k] = static_cast<double>(std::sqrt(advanced.variance[k]) / largest[k % lanes]);
      top.values[k] = r[k] * r[k];
    }
    top.scale = largest;
  }

  void join(OpTrace& trace) {
    const LaneVariances other = std::move(stack_.back());
    stack_.pop_back();
    LaneVariances& sum = stack_.back();
    for (std::size_t l = 0; l < lanes; ++l) {
      const long double now = std::hypot(sum.scale[l], other.scale[l]);
      trace.gain[l] = static_cast<double>(sum.scale[l] / now);
      trace.constant[l] = static_cast<double>(other.scale[l] / now);
      sum.scale[l] = now;
    }
    for (std::size_t k = 0; k < sum.values.size(); ++k) {
      const double g = trace.gain[k % lanes];
      const double h = trace.constant[k % lanes];
      sum.values[k] = g * g * sum.values[k] + h * h * other.values[k];
    }
  }

  static LaneNumbers scale_of(const LaneVariances& state) {
    LaneNumbers result;
    for (std::size_t l = 0; l < lanes; ++l) result[l] = static_cast<double>(state.scale[l]);
    return result;
  }

  static void check_scale(const LaneVariances& state) {
    Variances squares;
    for (const long double scale : state.scale) squares.push_back(scale * scale);
    check_variances(squares);
  }

  const Recipe& recipe_;
  const PlaneProgram& program_;
  double tolerance_;
  GroupTrace<double>& trace_;
  std::vector<LaneVariances> stack_;
  bool doubles_ = true;  ///< features are kept in double: for double planes, or for images paired with themselves
  DualErrors duals_;
};

}  // namespace

template <typename T>
GroupTrace<T> trace_group(const Recipe& recipe, const PlaneProgram& program, const SampleView& x, Index first,
                          Precision precision, double* error) {
  GroupTrace<double> trace;
  Tracer<T> tracer(recipe, program, precision, trace);
  tracer.run(x, first);
  *error = tracer.error();
  if constexpr (std::is_same_v<T, double>) {
    return trace;
  } else {
    GroupTrace<float> single{Matrix<float>(trace.x.rows(), trace.x.cols()), std::move(trace.ops), trace.scale,
                             std::move(trace.begin_scale)};
    std::transform(trace.x.data(), trace.x.data() + trace.x.cols(), single.x.data(),
                   [](double value) { return static_cast<float>(value); });
    for (auto& stage : single.ops) {
      for (OpTrace& op : stage) {
        if (op.features.f32.rows() == 0) op.features.round_to_float();
        op.features.f64 = Matrix<double>();
      }
    }
    return single;
  }
}

template GroupTrace<float> trace_group(const Recipe&, const PlaneProgram&, const SampleView&, Index, Precision,
                                       double*);
template GroupTrace<double> trace_group(const Recipe&, const PlaneProgram&, const SampleView&, Index, Precision,
                                        double*);

}  // namespace widelimit::cpu
