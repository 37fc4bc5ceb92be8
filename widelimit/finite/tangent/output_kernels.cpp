#include "widelimit/finite/tangent/output_kernels.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/backward.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/tangent/tangent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <span>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 2> kernel_outputs_names{"trace", "class"};

/// Stream of signs, disjoint from those of weights, batches and dropout.
constexpr std::uint64_t sign_stream = (std::uint64_t{1} << 51);

/// to[i] = ±1, 128 signs per draw.
template <std::floating_point T>
void draw_signs(const Random& random, std::span<T> to) {
  constexpr std::size_t word_bits = 32;
  constexpr std::size_t draw_bits = 4 * word_bits;
  for (std::size_t first = 0; first < to.size(); first += draw_bits) {
    const std::array<std::uint32_t, 4> words = random.words(first / draw_bits);
    const std::size_t count = std::min(draw_bits, to.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      to[first + i] = (words[i / word_bits] >> (i % word_bits) & 1U) != 0 ? T{1} : T{-1};
    }
  }
}

/// Draws direction `s` in the space of all trained weights.
template <std::floating_point T>
void draw_direction(const Architecture& architecture, std::uint64_t seed, Index s, Parameters<T>& direction) {
  const std::size_t slots = architecture.slots.size();
  for (std::size_t l = 0; l < slots; ++l) {
    if (!architecture.slots[l].trained) continue;
    const std::uint64_t stream = sign_stream + 2 * (static_cast<std::uint64_t>(s) * slots + l);
    draw_signs<T>(Random(seed, stream), direction.slots[l].w);
    draw_signs<T>(Random(seed, stream + 1), direction.slots[l].b);
  }
}

template <std::floating_point T>
OutputKernels exact(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x,
                    const OutputKernelOptions& options, const Engine& engine) {
  const Index outputs = architecture.output.size();
  const bool each = options.outputs == KernelOutputs::each;
  const PassOptions pass{.input_signal = false, .progress = options.progress};
  const Trace<T> trace = forward(architecture, parameters, x, pass, engine);
  OutputKernels result;
  Gradient<T> gradient;
  for (Index k = 0; k < outputs; ++k) {
    Tensor<T>& signal = gradient.output_signal(architecture);
    signal.resize(x.count(), architecture.output);
    signal.clear();
    for (Index i = 0; i < x.count(); ++i) signal.sample(i)[k] = T{1};
    backward(architecture, parameters, trace, pass, engine, gradient);
    const Matrix<T> part = empirical_ntk(architecture, gradient, engine);
    if (each || k == 0) result.kernels.emplace_back(x.count(), x.count());
    const double factor = each ? 1.0 : 1.0 / static_cast<double>(outputs);
    double* to = result.kernels.back().data();
    for (Index i = 0; i < x.count() * x.count(); ++i) to[i] += factor * static_cast<double>(part.data()[i]);
  }
  return result;
}

/// Sums over directions of q_s = (1/|group|) Σ_k z_k z_kᵀ and of its squares, for one group of outputs.
class SketchSums {
 public:
  explicit SketchSums(Index samples) : sum_(samples, samples), squares_(samples, samples) {}

  /// `z`: n × outputs of the group.
  void add(const Matrix<double>& z, const Engine& engine) {
    Matrix<double> q(z.rows(), z.rows(), Content::unset);
    engine.algebra().host_product(1.0 / static_cast<double>(z.cols()), Transpose::no, z.view(), Transpose::yes,
                                  z.view(), 0, q.view());
    for (Index i = 0; i < q.rows() * q.cols(); ++i) {
      sum_.data()[i] += q.data()[i];
      squares_.data()[i] += q.data()[i] * q.data()[i];
    }
    ++count_;
  }

  /// Returns the mean; adds ‖mean‖² to `size` and the squared standard errors of its entries to `error`.
  Matrix<double> finish(double& size, double& error) {
    const auto count = static_cast<double>(count_);
    for (Index i = 0; i < sum_.rows() * sum_.cols(); ++i) {
      const double mean = sum_.data()[i] / count;
      const double variance = std::max(0.0, squares_.data()[i] / count - mean * mean) * count / (count - 1);
      size += mean * mean;
      error += variance / count;
      sum_.data()[i] = mean;
    }
    return std::move(sum_);
  }

 private:
  Matrix<double> sum_;
  Matrix<double> squares_;
  Index count_ = 0;
};

template <std::floating_point T>
OutputKernels sketched(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x,
                       const OutputKernelOptions& options, const Engine& engine) {
  const Index outputs = architecture.output.size();
  const bool each = options.outputs == KernelOutputs::each;
  const Index groups = each ? outputs : 1;
  const Index grouped = outputs / groups;
  const PassOptions pass{.input_signal = false, .progress = options.progress};
  const Trace<T> trace = forward(architecture, parameters, x, pass, engine);
  std::vector<SketchSums> sums;
  for (Index g = 0; g < groups; ++g) sums.emplace_back(x.count());
  Parameters<T> direction = zero_parameters<T>(architecture);
  Trace<T> changes;
  Matrix<double> z(x.count(), grouped);
  for (Index s = 0; s < options.projections; ++s) {
    stop_if_requested(options.progress);
    draw_direction(architecture, options.seed, s, direction);
    tangent(architecture, parameters, direction, trace, pass, engine, changes);
    for (Index g = 0; g < groups; ++g) {
      for (Index i = 0; i < x.count(); ++i) {
        for (Index k = 0; k < grouped; ++k) {
          z(i, k) = static_cast<double>(changes.output().sample(i)[g * grouped + k]);
        }
      }
      sums[usize(g)].add(z, engine);
    }
  }
  OutputKernels result;
  double size = 0;
  double error = 0;
  for (SketchSums& sum : sums) result.kernels.push_back(sum.finish(size, error));
  result.relative_error = size > 0 ? std::sqrt(error / size) : 0.0;
  return result;
}

}  // namespace

std::string_view to_string(KernelOutputs outputs) { return kernel_outputs_names[static_cast<std::size_t>(outputs)]; }
KernelOutputs parse_kernel_outputs(std::string_view text) {
  return parse_choice<KernelOutputs>("form of the outputs", kernel_outputs_names, text);
}

template <std::floating_point T>
OutputKernels output_kernels(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x,
                             const OutputKernelOptions& options, const Engine& engine) {
  const Interruptible interruptible(options.progress);
  if (options.projections < 0 || options.projections == 1) {
    fail(Code::usage, "{} random directions; choose 0 for exact kernels, or at least 2", options.projections);
  }
  try {
    return options.projections == 0 ? exact(architecture, parameters, x, options, engine)
                                    : sketched(architecture, parameters, x, options, engine);
  } catch (const std::bad_alloc&) {
    fail(Code::resource, "the gradients at {} samples do not fit in memory; choose fewer of them or a smaller width",
         x.count());
  }
}

template OutputKernels output_kernels(const Architecture&, const Parameters<float>&, const Tensor<float>&,
                                      const OutputKernelOptions&, const Engine&);
template OutputKernels output_kernels(const Architecture&, const Parameters<double>&, const Tensor<double>&,
                                      const OutputKernelOptions&, const Engine&);

}  // namespace widelimit
