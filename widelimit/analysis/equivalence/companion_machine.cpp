#include "widelimit/analysis/equivalence/companion_machine.hpp"

#include "widelimit/analysis/dynamics/descend.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/kernel/gram.hpp"

#include <algorithm>

namespace widelimit {

namespace {

Index test_count(const TrainData& data) { return data.test ? data.test->count() : 0; }

void require_kernel_memory(const TrainData& data, const TrainOptions& options) {
  const auto n = static_cast<double>(data.x.count());
  const double number = options.precision == Precision::f32 ? 4 : 8;
  // `aux` additionally stores the matrix with λ on its diagonal and the rows of all points.
  const double copies = options.regulariser == Regulariser::aux ? 3 : 1;
  require_memory(copies * number * n * (n + static_cast<double>(test_count(data))), options.memory,
                 "the Gram matrix of the machine", "take fewer samples or precision f32");
}

template <std::floating_point T>
CompanionKernels start_kernels_of(const TrainedNetwork& trained, const Parameters<T>& start, const TrainData& data,
                                  const Engine& engine, Progress* progress) {
  const Architecture& architecture = trained.architecture;
  const Tensor<T> x = read_samples<T>(data.x, architecture.input);
  CompanionKernels kernels{.train = empirical_ntk(architecture, start, x, x, {.progress = progress}, engine),
                           .test = Matrix<T>(0, x.count())};
  if (test_count(data) > 0) {
    kernels.test = empirical_ntk(architecture, start, read_samples<T>(*data.test, architecture.input), x,
                                 {.progress = progress}, engine);
  }
  return kernels;
}

Matrix<double> columns(const Matrix<double>& from, Index first, Index count) {
  Matrix<double> part(from.rows(), count);
  for (Index i = 0; i < from.rows(); ++i) std::copy_n(from.view().row(i) + first, count, part.view().row(i));
  return part;
}

double loss_at(const double* outputs, const TrainData& data, const Loss& loss) {
  const auto size = static_cast<std::size_t>(data.y.cols);
  double sum = 0;
  for (Index i = 0; i < data.y.rows; ++i) {
    sum += loss_value(loss, {outputs + i * data.y.cols, size}, {data.y.row(i), size});
  }
  return sum;
}

template <std::floating_point T>
MachinePath follow_auxiliary(const Matrix<T>& k, const Matrix<T>& k_test, const TrainData& data, double lambda,
                             DescendOptions how, const Engine& engine) {
  const Index n = k.rows();
  Matrix<T> ridged = k.copy();
  for (Index i = 0; i < n; ++i) ridged(i, i) += static_cast<T>(lambda);
  Matrix<T> points(n + k_test.rows(), n, Content::unset);
  std::copy_n(k.data(), n * n, points.data());
  std::copy_n(k_test.data(), k_test.rows() * n, points.data() + n * n);
  how.lambda = 0;
  how.record.test = points.view();
  const Trajectory path = descend(GramMatrix(ridged.view(), engine), data.y, how);
  const Index values = n * data.y.cols;
  MachinePath result{.train = columns(path.test, 0, values),
                     .test = columns(path.test, values, k_test.rows() * data.y.cols),
                     .loss = {},
                     .summary = path.summary};
  for (Index i = 0; i < result.train.rows(); ++i) {
    result.loss.push_back(loss_at(result.train.view().row(i), data, how.loss));
  }
  return result;
}

}  // namespace

CompanionKernels limit_kernels(const Network& network, const TrainData& data, const TrainOptions& options,
                               const Engine& engine) {
  require_trained_layer(network, Kind::ntk);
  require_kernel_memory(data, options);
  const GramOptions how{.kind = Kind::ntk, .precision = options.precision, .progress = options.progress};
  Gram train = gram(network, data.x, how, engine);
  CompanionKernels kernels{.train = std::move(train.ntk), .test = {}, .seconds = train.seconds};
  if (test_count(data) > 0) {
    Gram test = gram(network, *data.test, data.x, how, engine);
    kernels.test = std::move(test.ntk);
    kernels.seconds += test.seconds;
  }
  return kernels;
}

CompanionKernels start_kernels(const TrainedNetwork& trained, const TrainData& data, const Engine& engine,
                               Progress* progress) {
  const auto begin = Clock::now();
  CompanionKernels kernels = std::visit(
      [&](const auto& start) { return start_kernels_of(trained, start, data, engine, progress); }, trained.start);
  kernels.seconds = seconds_since(begin);
  return kernels;
}

MachinePath follow_machine(const CompanionKernels& kernels, const TrainData& data, const TrainOptions& options,
                           const std::vector<Index>& steps, const Start& start, const Engine& engine) {
  DescendOptions how{
      .loss = options.loss, .lambda = options.lambda, .rate = options.rate.value(), .steps = options.steps};
  how.batch = options.batch;
  how.seed = options.seed;
  how.record_at = steps;
  how.start = start;
  how.check_rate = false;
  how.check_definite = false;  // positive semi-definite by construction
  how.progress = options.progress;
  if (options.regulariser == Regulariser::none) how.lambda = 0;
  if (options.regulariser == Regulariser::aux) {
    return std::visit(
        [&](const auto& k) {
          using Number = std::remove_cvref_t<decltype(k)>;
          const Number none(0, k.cols());
          const auto* test = test_count(data) > 0 ? &std::get<Number>(kernels.test) : &none;
          return follow_auxiliary(k, *test, data, options.lambda, how, engine);
        },
        kernels.train);
  }
  if (test_count(data) > 0) how.record.test = view_of(kernels.test);
  Trajectory path = descend({view_of(kernels.train), engine}, data.y, how);
  return {.train = std::move(path.train),
          .test = std::move(path.test),
          .loss = std::move(path.loss),
          .summary = std::move(path.summary)};
}

}  // namespace widelimit
