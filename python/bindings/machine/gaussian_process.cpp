#include "widelimit/machine/ridge/gaussian_process.hpp"

#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

std::unique_ptr<GaussianProcess> make_process(const KernelArray& k, const Table& targets, const nb::dict& given) {
  const OptionReader reader(given);
  GaussianProcessOptions options;
  reader.take("noise", options.noise);
  reader.take("check_definite", options.check_definite);
  const std::optional<int> threads = threads_of(given);
  return unlocked([&](Progress* progress) {
    options.progress = progress;
    return std::make_unique<GaussianProcess>(gram_of(k, threads), view_of(targets), options);
  });
}

nb::tuple fitted(const GaussianProcess& process) {
  const Fit& fit = process.fit();
  Matrix<double> alpha(fit.alpha.rows(), fit.alpha.cols(), Content::unset);
  std::copy_n(fit.alpha.data(), alpha.rows() * alpha.cols(), alpha.data());
  return nb::make_tuple(as_array(std::move(alpha)), as_tuple(fit.summary),
                        as_array(std::vector<double>(process.log_marginal_likelihood())));
}

nb::tuple posterior(const GaussianProcess& process, const DenseArray& k, const Numbers& diagonal) {
  Posterior found = unlocked([&](Progress*) {
    return process.posterior(view_kernel(k), {diagonal.data(), diagonal.size()});
  });
  return nb::make_tuple(as_array(std::move(found.mean)), as_array(std::move(found.variance)));
}

nb::tuple joint_posterior(const GaussianProcess& process, const DenseArray& k, const DenseArray& own) {
  Posterior found = unlocked([&](Progress*) { return process.joint_posterior(view_kernel(k), view_kernel(own)); });
  return nb::make_tuple(as_array(std::move(found.mean)), as_array(std::move(found.variance)),
                        as_array(std::move(found.covariance)));
}

}  // namespace

void bind_gaussian_process(nb::module_& module) {
  nb::class_<GaussianProcess>(module, "GaussianProcess",
                              "A Gaussian process posterior, from a factorisation of K + σ²I.")
      .def("fitted", &fitted, "(alpha, summary, log marginal likelihood of each output).")
      .def("posterior", &posterior, "k"_a, "diagonal"_a,
           "(mean, variance) from K(test, train) and the diagonal K(x, x).")
      .def("joint_posterior", &joint_posterior, "k"_a, "own"_a,
           "(mean, variance, covariance) from K(test, train) and K(test, test).");
  module.def("gaussian_process", &make_process, "k"_a, "targets"_a, "options"_a,
             "The Gaussian process with covariance K, conditioned on targets; one column per output.");
}

}  // namespace widelimit::python
