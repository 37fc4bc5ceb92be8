#include "widelimit/finite/tangent/path_kernel.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Observes the steps of one training and accumulates the machine.
template <std::floating_point T>
class PathRecorder {
 public:
  PathRecorder(const TrainData& data, const TrainOptions& options, const Engine& engine, PathMachine& machine)
      : data_(data),
        lambda_(options.regulariser == Regulariser::output ? options.lambda : 0),
        engine_(engine),
        machine_(machine) {}

  void observe(const TrainStep& step) {
    const Architecture& architecture = *step.architecture;
    const auto& w = *std::get<const Parameters<T>*>(step.parameters);
    if (step.step == 0) begin(architecture, w);
    decay(1 - step.rate * lambda_);
    take_signs(step);
    const bool full = std::ssize(step.batch) == x_.count();
    if (!full) gather(step.batch);
    const Tensor<T>& batch = full ? x_ : batch_;
    const NtkOptions all_pairs{.outputs = NtkOutputs::full};
    add(step, empirical_ntk(architecture, w, x_, batch, all_pairs, engine_), 0);
    if (test_.count() > 0) {
      add(step, empirical_ntk(architecture, w, test_, batch, all_pairs, engine_), x_.count() * outputs_);
    }
  }

 private:
  void begin(const Architecture& architecture, const Parameters<T>& w) {
    if (architecture.dropouts > 0) {
      fail(Code::usage, "a network as a kernel machine is not defined with dropout; leave it out");
    }
    x_ = read_samples<T>(data_.x, architecture.input);
    if (data_.test) test_ = read_samples<T>(*data_.test, architecture.input);
    outputs_ = architecture.output.size();
    const Index rows = (x_.count() + test_.count()) * outputs_;
    machine_.k = Matrix<double>(rows, x_.count() * outputs_);
    machine_.a.assign(static_cast<std::size_t>(x_.count() * outputs_), 0.0);
    changed_.assign(machine_.a.size(), 0);
    for (const Tensor<T>* points : {&x_, &test_}) {
      if (points->count() == 0) continue;
      const Trace<T> trace = forward(architecture, w, *points, {}, engine_);
      const auto f = trace.output().values();
      machine_.b.insert(machine_.b.end(), f.begin(), f.end());
    }
    machine_.absolute = machine_.b;
  }

  void decay(double factor) {
    if (factor == 1) return;
    const Index numbers = machine_.k.rows() * machine_.k.cols();
    std::for_each(machine_.k.data(), machine_.k.data() + numbers, [&](double& value) { value *= factor; });
    for (double& value : machine_.b) value *= factor;
    for (double& value : machine_.absolute) value *= factor;
  }

  void take_signs(const TrainStep& step) {
    for (std::size_t i = 0; i < step.batch.size(); ++i) {
      for (Index k = 0; k < outputs_; ++k) {
        const double slope = step.slopes(static_cast<Index>(i), k);
        const auto column = static_cast<std::size_t>(step.batch[i] * outputs_ + k);
        double& a = machine_.a[column];
        if (a == 0 && slope != 0) a = slope > 0 ? -1 : 1;
        if (a * slope > 0 && changed_[column] == 0) {
          changed_[column] = 1;
          ++machine_.sign_changes;
        }
      }
    }
  }

  void gather(std::span<const Index> batch) {
    batch_.resize(std::ssize(batch), x_.shape());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::copy_n(x_.sample(batch[i]), x_.shape().size(), batch_.sample(static_cast<Index>(i)));
    }
  }

  /// Adds `theta`, whose rows are rows of K from `first` on and whose columns are the batch.
  void add(const TrainStep& step, const Matrix<T>& theta, Index first) {
    for (Index p = 0; p < theta.rows(); ++p) {
      double* row = machine_.k.view().row(first + p);
      double& absolute = machine_.absolute[static_cast<std::size_t>(first + p)];
      for (Index j = 0; j < theta.cols(); ++j) {
        const Index column = step.batch[static_cast<std::size_t>(j / outputs_)] * outputs_ + j % outputs_;
        const double push =
            step.rate * step.weight * step.slopes(j / outputs_, j % outputs_) * static_cast<double>(theta(p, j));
        const double a = machine_.a[static_cast<std::size_t>(column)];
        row[column] -= a * push;
        absolute += a * (step.slopes(j / outputs_, j % outputs_) < 0 ? -push : push);
      }
    }
  }

  const TrainData& data_;
  double lambda_;
  const Engine& engine_;
  PathMachine& machine_;
  Tensor<T> x_;
  Tensor<T> test_;
  Tensor<T> batch_;
  Index outputs_ = 1;
  std::vector<char> changed_;
};

void sum_up(PathMachine& machine) {
  machine.values = machine.b;
  for (Index p = 0; p < machine.k.rows(); ++p) {
    double& sum = machine.values[static_cast<std::size_t>(p)];
    for (Index i = 0; i < machine.k.cols(); ++i) sum += machine.a[static_cast<std::size_t>(i)] * machine.k(p, i);
    if (!std::isfinite(sum))
      fail(Code::numerical, "the kernel of the machine overflows; choose a smaller learning rate");
  }
}

/// Returns the outputs at the current weights of `trained`, training samples first.
std::vector<double> outputs_on(const TrainedNetwork& trained, const TrainData& data, const Engine& engine) {
  std::vector<double> all;
  const auto append = [&](const SampleView& x) {
    const Matrix<double> f = predict_outputs(trained, x, engine);
    all.insert(all.end(), f.data(), f.data() + f.rows() * f.cols());
  };
  append(data.x);
  if (data.test && data.test->count() > 0) append(*data.test);
  return all;
}

double farthest(std::span<const double> a, std::span<const double> b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

PathDifference difference_of(const std::vector<double>& f, const std::vector<double>& f0, const PathMachine& machine,
                             std::size_t train_rows) {
  const std::span all(f);
  const std::span values(machine.values);
  PathDifference difference{.train = farthest(all.first(train_rows), values),
                            .test = {},
                            .absolute = farthest(all, machine.absolute),
                            .moved = farthest(all, f0)};
  if (f.size() > train_rows) difference.test = farthest(all.subspan(train_rows), values.subspan(train_rows));
  return difference;
}

void check_path_memory(const TrainData& data, const TrainOptions& options) {
  const double outputs = static_cast<double>(std::max<Index>(data.y.cols, 1));
  const auto samples = static_cast<double>(data.x.count());
  const double points = samples + (data.test ? static_cast<double>(data.test->count()) : 0.0);
  // K, one empirical kernel, and its block for one pair of outputs.
  require_memory(24 * points * samples * outputs * outputs, options.memory, "the kernel of the machine",
                 "choose fewer samples or test samples");
}

template <std::floating_point T>
NetAsMachine watched_training(const Network& network, const TrainData& data, TrainOptions options,
                              const Engine& engine) {
  NetAsMachine result;
  PathRecorder<T> recorder(data, options, engine, result.machine);
  options.observer = [&recorder, before = options.observer](const TrainStep& step) {
    if (before) before(step);
    recorder.observe(step);
  };
  result.trained = train(network, data, options, engine);
  return result;
}

}  // namespace

void require_path_machine(const TrainOptions& options) {
  const auto refuse = [](bool wrong, std::string_view what) {
    if (wrong) fail(Code::usage, "a network as a kernel machine is not defined {}", what);
  };
  const Regulariser r = options.regulariser;
  if (r == Regulariser::aux || (options.lambda > 0 && (r == Regulariser::init || r == Regulariser::weights))) {
    fail(Code::usage,
         "regulariser {} does not decay f at rate λ, which the kernel machine of a network requires; choose output, or "
         "none",
         to_string(r));
  }
  refuse(options.optimiser.momentum > 0, "with momentum; leave it out");
  refuse(!options.optimiser.plain(), "with weight decay or an optimiser other than plain descent; leave them out");
  refuse(options.flow_time > 0, "for an adaptive gradient flow; take small steps instead");
  refuse(options.centred, "for f − f₀; train f itself");
  refuse(options.linearised, "for a linearised network; train the network itself");
  refuse(options.steps == 0, "without training steps; take at least one");
}

NetAsMachine train_as_kernel_machine(const Network& network, const TrainData& data, const TrainOptions& options,
                                     const Engine& engine) {
  options.validate();
  require_path_machine(options);
  check_path_memory(data, options);
  NetAsMachine result = options.precision == Precision::f32 ? watched_training<float>(network, data, options, engine)
                                                            : watched_training<double>(network, data, options, engine);
  if (!result.trained.summary.finished()) {
    result.machine = {};
    return result;
  }
  sum_up(result.machine);
  result.outputs = outputs_on(result.trained, data, engine);
  std::swap(result.trained.parameters, result.trained.start);
  const std::vector<double> f0 = outputs_on(result.trained, data, engine);
  std::swap(result.trained.parameters, result.trained.start);
  const auto train_rows = static_cast<std::size_t>(data.x.count() * data.y.cols);
  result.difference = difference_of(result.outputs, f0, result.machine, train_rows);
  return result;
}

}  // namespace widelimit
