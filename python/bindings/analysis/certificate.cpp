#include "widelimit/certificate/certify.hpp"

#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/option_reader.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/certificate/network/network_certificate.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

CertifyOptions certify_options(const nb::dict& given) {
  const OptionReader reader(given);
  CertifyOptions options;
  reader.parse("norm", options.norm, parse_norm);
  reader.parse("method", options.method, parse_certificate_method);
  reader.parse("units", options.units, parse_certificate_units);
  reader.take("widths", options.widths);
  std::optional<std::pair<std::vector<double>, std::vector<double>>> box;
  reader.take("box", box);
  if (box) options.box = Box(std::move(box->first), std::move(box->second));
  reader.take("radius", options.radius);
  reader.take("tolerance", options.tolerance);
  bool attack = false;
  reader.take("attack", attack);
  if (attack) {
    options.attack.emplace();
    reader.take("steps", options.attack->steps);
    reader.take("restarts", options.attack->restarts);
    reader.take("seed", options.attack->seed);
    options.keep_attacked = true;
  }
  return options;
}

/// Returns all results by name; results that were not requested are None.
nb::dict results_dict(Certificates certificates, bool attacked) {
  nb::dict result;
  const std::size_t count = certificates.radius.size();
  nb::list methods;
  for (const CertificateMethod method : certificates.method) methods.append(std::string(to_string(method)));
  nb::list correct;
  for (std::size_t i = 0; i < count; ++i) correct.append(nb::bool_(certificates.correct[i]));
  result["radius"] = as_array(std::move(certificates.radius));
  result["correct"] = correct;
  result["margin"] = as_array(std::move(certificates.margin));
  result["method"] = methods;
  result["attack"] = attacked ? as_array(std::move(certificates.attack)) : nb::none();
  result["attacked"] = attacked ? as_array(std::move(certificates.attacked)) : nb::none();
  result["widths"] = certificates.widths.empty() ? nb::none() : as_array(std::move(certificates.widths));
  result["units"] = std::string(to_string(certificates.units));
  result["remark"] = certificates.remark;
  result["seconds"] = certificates.seconds;
  result["attack_seconds"] = certificates.attack_seconds;
  return result;
}

nb::dict certify_machine(const Model& model, const SampleArray& x, const Labels& labels, const nb::dict& given) {
  CertifyOptions options = certify_options(given);
  const Engine& engine = engine_of(given);
  return results_dict(unlocked([&](Progress* progress) {
                        options.progress = progress;
                        return certify(model, view_samples(x), span_of(labels), options, engine);
                      }),
                      options.attack.has_value());
}

nb::dict certify_trained(const TrainedNetwork& trained, const SampleArray& x, const Labels& labels,
                         const nb::dict& given) {
  CertifyOptions options = certify_options(given);
  const Engine& engine = engine_of(given);
  return results_dict(unlocked([&](Progress* progress) {
                        options.progress = progress;
                        return certify_network(trained, view_samples(x), span_of(labels), options, engine);
                      }),
                      options.attack.has_value());
}

}  // namespace

void bind_certificate(nb::module_& module) {
  module.def("certify", &certify_machine, "model"_a, "x"_a, "labels"_a, "options"_a,
             "Certified radii of a fitted machine, as a dict; options as a dict, None for a default.");
  module.def("certify_network", &certify_trained, "trained"_a, "x"_a, "labels"_a, "options"_a,
             "Certified radii of a trained network, by interval bound propagation.");
}

}  // namespace widelimit::python
