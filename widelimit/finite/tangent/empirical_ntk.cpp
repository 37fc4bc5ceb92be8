#include "widelimit/finite/tangent/empirical_ntk.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/finite/tangent/contract.hpp"

#include <array>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 2> ntk_outputs_names{"trace", "full"};

template <std::floating_point T>
Matrix<T> contract(const Architecture& architecture, const Gradient<T>& g1, const Gradient<T>& g2, int threads) {
  Matrix<T> kernel(g1.count(), g2.count());
  if (kernel.rows() == 0 || kernel.cols() == 0) return kernel;
  for (std::size_t l = 0; l < architecture.slots.size(); ++l) {
    contract_slot(architecture.slots[l], g1.slots[l], g2.slots[l], kernel.view(), threads);
  }
  if (&g1 == &g2) mirror_upper(kernel.view());
  return kernel;
}

/// Samples with the gradients of each output.
template <std::floating_point T>
class OutputGradients {
 public:
  OutputGradients(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x, int threads)
      : trace_(forward(architecture, parameters, x, {.threads = threads})) {
    for (Index k = 0; k < architecture.output.size(); ++k) {
      Tensor<T> signal(x.count(), architecture.output);
      for (Index i = 0; i < x.count(); ++i) signal.sample(i)[k] = T{1};
      gradients_.push_back(backward(architecture, parameters, trace_, std::move(signal), {.threads = threads}));
    }
  }
  [[nodiscard]] const Gradient<T>& of(Index output) const { return gradients_[static_cast<std::size_t>(output)]; }

 private:
  Trace<T> trace_;
  std::vector<Gradient<T>> gradients_;
};

template <std::floating_point T>
Matrix<T> combine(const Architecture& architecture, const OutputGradients<T>& g1, const OutputGradients<T>& g2,
                  Index n1, Index n2, const NtkOptions& options) {
  const Index outputs = architecture.output.size();
  const bool full = options.outputs == NtkOutputs::full;
  const Index side = full ? outputs : 1;
  Matrix<T> kernel(n1 * side, n2 * side);
  for (Index k = 0; k < outputs; ++k) {
    for (Index l = full ? 0 : k; l < (full ? outputs : k + 1); ++l) {
      const Matrix<T> part = contract(architecture, g1.of(k), g2.of(l), options.threads);
      const T factor = full ? T{1} : T{1} / static_cast<T>(outputs);
      for (Index i = 0; i < n1; ++i) {
        for (Index j = 0; j < n2; ++j) {
          kernel(i * side + (full ? k : 0), j * side + (full ? l : 0)) += factor * part(i, j);
        }
      }
    }
  }
  return kernel;
}

}  // namespace

NtkOutputs parse_ntk_outputs(std::string_view text) {
  return parse_choice<NtkOutputs>("form of the outputs", ntk_outputs_names, text);
}

template <std::floating_point T>
Matrix<T> empirical_ntk(const Architecture& architecture, const Gradient<T>& g1, const Gradient<T>& g2, int threads) {
  return contract(architecture, g1, g2, threads);
}

template <std::floating_point T>
Matrix<T> empirical_ntk(const Architecture& architecture, const Gradient<T>& g, int threads) {
  return contract(architecture, g, g, threads);
}

template <std::floating_point T>
Matrix<T> empirical_ntk(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x1,
                        const Tensor<T>& x2, const NtkOptions& options) {
  const OutputGradients<T> g1(architecture, parameters, x1, options.threads);
  if (&x1 == &x2) return combine(architecture, g1, g1, x1.count(), x1.count(), options);
  const OutputGradients<T> g2(architecture, parameters, x2, options.threads);
  return combine(architecture, g1, g2, x1.count(), x2.count(), options);
}

template Matrix<float> empirical_ntk(const Architecture&, const Gradient<float>&, const Gradient<float>&, int);
template Matrix<double> empirical_ntk(const Architecture&, const Gradient<double>&, const Gradient<double>&, int);
template Matrix<float> empirical_ntk(const Architecture&, const Gradient<float>&, int);
template Matrix<double> empirical_ntk(const Architecture&, const Gradient<double>&, int);
template Matrix<float> empirical_ntk(const Architecture&, const Parameters<float>&, const Tensor<float>&,
                                     const Tensor<float>&, const NtkOptions&);
template Matrix<double> empirical_ntk(const Architecture&, const Parameters<double>&, const Tensor<double>&,
                                      const Tensor<double>&, const NtkOptions&);

}  // namespace widelimit
