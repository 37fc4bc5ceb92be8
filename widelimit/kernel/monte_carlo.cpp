#include "widelimit/kernel/monte_carlo.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/training/evaluator.hpp"
#include "widelimit/kernel/entries.hpp"
#include "widelimit/network/shape.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

namespace widelimit {

namespace {

// Random streams of a draw's seed, distinct from those of weights and dropout masks.
constexpr std::uint64_t probe_stream = ~std::uint64_t{0};
constexpr std::uint64_t draw_stream = ~std::uint64_t{1};

struct Problem {
  Architecture architecture;
  Tensor<double> x1;
  Tensor<double> x2;
  bool symmetric;  ///< x2 is x1: samples then share their dropout masks, as in a symmetric Gram matrix
  bool ntk;
};

struct Estimate {
  Matrix<double> nngp;
  Matrix<double> ntk;
};

/// c = alpha·a1·a2ᵀ, samples as rows. On an engine with layers the factors stay on the device; there `symmetric`
/// mirrors the upper triangle, since its products need not be exactly symmetric.
Matrix<double> inner_products(double alpha, const Tensor<double>& a1, const Tensor<double>& a2, bool symmetric,
                              const Engine& engine) {
  Matrix<double> c(a1.count(), a2.count());
  const Index entries = c.rows() * c.cols();
  if (entries == 0) return c;
  const auto rows = [](const Tensor<double>& a, const double* numbers) {
    return MatrixView<const double>{numbers, a.count(), a.shape().size(), a.shape().size()};
  };
  if (const auto& layers = layers_of<double>(engine)) {
    auto held = Values<double>::unset(usize(entries));
    const MatrixView<double> to{held.write(layers), c.rows(), c.cols(), c.cols()};
    layers->product(alpha, Transpose::no, rows(a1, a1.read(layers).data), Transpose::yes,
                    rows(a2, a2.read(layers).data), 0, to);
    if (symmetric) layers->mirror_upper(to);
    layers->download(to.data, entries, c.data());
    return c;
  }
  engine.algebra().host_product(alpha, Transpose::no, rows(a1, a1.data()), Transpose::yes, rows(a2, a2.data()), 0,
                                c.view());
  return c;
}

/// E[f f'] given all layers but the readout. If the last layer is dense, the expectation over its weights:
/// w²⟨a,a'⟩/C + b². Otherwise the mean of f_k f'_k over the output channels.
Matrix<double> output_covariance(const Architecture& architecture, const Trace<double>& t1, const Trace<double>& t2,
                                 const Engine& engine) {
  const bool dense = architecture.ends_in_dense();
  const auto representation = [&](const Trace<double>& trace) -> const Tensor<double>& {
    return dense ? trace.values[trace.values.size() - 2] : trace.output();
  };
  const Tensor<double>& a1 = representation(t1);
  const Tensor<double>& a2 = representation(t2);
  const WeightSlot mean{.fan_in = 0, .fan_out = 0, .w_scale = 1.0 / std::sqrt(static_cast<double>(a1.shape().size()))};
  const WeightSlot& readout = dense ? architecture.slots.back() : mean;
  Matrix<double> covariance = inner_products(readout.w_scale * readout.w_scale, a1, a2, &t1 == &t2, engine);
  for (Index i = 0; i < covariance.rows() * covariance.cols(); ++i) {
    covariance.data()[i] += readout.b_scale * readout.b_scale;
  }
  return covariance;
}

/// Gradient of the scalar Σ_k s_k f_k/√K with random signs s; the expectation of its tangent kernel over the draws is
/// the mean of the tangent kernels of the K outputs.
Tensor<double> probe_signal(Index count, const Shape& output, std::uint64_t seed) {
  const Random random(seed, probe_stream);
  Tensor<double> signal(count, output);
  const double scale = 1.0 / std::sqrt(static_cast<double>(output.size()));
  for (Index k = 0; k < output.size(); ++k) {
    const double sign = (random.bits(static_cast<std::uint64_t>(k)) & 1U) != 0 ? scale : -scale;
    for (Index i = 0; i < count; ++i) signal.sample(i)[k] = sign;
  }
  return signal;
}

Estimate estimate(const Problem& problem, std::uint64_t seed, const Engine& engine, Progress* progress) {
  ThrottledProgress throttled(progress);
  const Architecture& architecture = problem.architecture;
  const Parameters<double> parameters = draw_parameters<double>(architecture, seed, engine);
  const PassOptions masks1{.dropout = DropoutDraw{seed, 0}, .input_signal = false, .progress = throttled.get()};
  const PassOptions masks2{
      .dropout = DropoutDraw{seed, problem.x1.count()}, .input_signal = false, .progress = throttled.get()};
  const Trace<double> t1 = forward(architecture, parameters, problem.x1, masks1, engine);
  const Trace<double> t2 =
      problem.symmetric ? Trace<double>{} : forward(architecture, parameters, problem.x2, masks2, engine);
  Estimate result;
  result.nngp = output_covariance(architecture, t1, problem.symmetric ? t1 : t2, engine);
  if (!problem.ntk) return result;
  const auto gradient = [&](const Trace<double>& trace, const PassOptions& masks) {
    Tensor<double> signal = probe_signal(trace.output().count(), architecture.output, seed);
    return backward(architecture, parameters, trace, std::move(signal), masks, engine);
  };
  const Gradient<double> g1 = gradient(t1, masks1);
  result.ntk = problem.symmetric ? empirical_ntk(architecture, g1, engine)
                                 : empirical_ntk(architecture, g1, gradient(t2, masks2), engine);
  return result;
}

/// Moves out the mean and its standard error. Throws Error{numerical} naming the first pair for which one is not
/// finite.
void finish(EntryMoments& moments, Matrix<double>& mean, Matrix<double>& error, std::string_view kernel) {
  if (const auto pair = moments.finish(mean, error)) {
    fail(Code::numerical,
         "{} of sample {} against sample {} overflows in random networks; scale the samples down or choose "
         "smaller w_std",
         kernel, pair->first, pair->second);
  }
}

/// Runs draws in parallel batches, or one at a time if an engine holds the networks in its own memory. Results are
/// added in the order of the draws, so that the sum is independent of the number of threads.
MonteCarloGram average(const Problem& problem, const MonteCarloOptions& options, const Engine& engine) {
  const Interruptible interruptible(options.progress);
  EntryMoments nngp(problem.x1.count(), problem.x2.count());
  EntryMoments ntk(problem.x1.count(), problem.x2.count());
  const Random seeds(options.seed, draw_stream);
  const auto& layers = layers_of<double>(engine);
  const Index team = layers ? 1 : engine.threads();
  if (layers) {  // upload the samples once; the copies stay on the device
    (void)problem.x1.read(layers);
    if (!problem.symmetric) (void)problem.x2.read(layers);
  }
  ProgressTicker ticker(options.progress, options.draws, "networks");
  SharedProgress shared(options.progress, options.draws, "networks");
  for (Index first = 0; first < options.draws; first += team) {
    std::vector<Estimate> estimates(static_cast<std::size_t>(std::min(team, options.draws - first)));
    const auto draw = [&](Index k) {
      const std::uint64_t seed = seeds.bits(static_cast<std::uint64_t>(first + k));
      estimates[usize(k)] = estimate(problem, seed, engine, shared.get());
    };
    if (layers) {
      draw(0);  // the weights are drawn by all threads
    } else {
      engine.for_each(std::ssize(estimates), draw);
    }
    for (const Estimate& one : estimates) {
      nngp.add(one.nngp);
      if (problem.ntk) ntk.add(one.ntk);
    }
    ticker.at(first + static_cast<Index>(estimates.size()));
  }
  MonteCarloGram gram;
  finish(nngp, gram.nngp, gram.nngp_error, "nngp");
  if (problem.ntk) finish(ntk, gram.ntk, gram.ntk_error, "ntk");
  return gram;
}

}  // namespace

MonteCarloGram monte_carlo_gram(const Network& network, const SampleView& x1, const SampleView& x2,
                                const MonteCarloOptions& options, const Engine& engine) {
  require_layers(engine, "Monte Carlo kernels");
  if (options.draws < 2) {
    fail(Code::usage, "draws = {}: a standard error needs at least 2 networks", options.draws);
  }
  if (x1.shape != x2.shape) {
    fail(Code::input, "samples of shape {} cannot be compared with samples of shape {}", to_string(x1.shape),
         to_string(x2.shape));
  }
  try {
    const Shape input = effective_input(network, x1.shape);
    const Problem problem{Architecture::make(network, x1.shape, {.hidden = options.width, .outputs = 1}),
                          read_samples<double>(x1, input), read_samples<double>(x2, input), x1.same_memory(x2),
                          options.ntk};
    return average(problem, options, engine);
  } catch (const std::bad_alloc&) {
    fail(Code::resource, "random networks of width {} on {} + {} samples do not fit in memory; reduce width or threads",
         options.width, x1.count(), x2.count());
  }
}

}  // namespace widelimit
