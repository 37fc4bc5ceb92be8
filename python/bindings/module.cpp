#include "python/bindings/rooms.hpp"

NB_MODULE(_core, module) {
  module.doc() = "Bindings of the widelimit library; internal to the package widelimit.";
  // Registered activations, and the objects that they refer to, are never freed.
  nanobind::set_leak_warnings(false);
  widelimit::python::bind_base(module);
  widelimit::python::bind_graphs(module);
  widelimit::python::bind_data(module);
  widelimit::python::bind_fetch(module);
  widelimit::python::bind_network(module);
  widelimit::python::bind_engine(module);
  widelimit::python::bind_device_array(module);
  widelimit::python::bind_kernel(module);
  widelimit::python::bind_label_aware(module);
  widelimit::python::bind_stored(module);
  widelimit::python::bind_comparison(module);
  widelimit::python::bind_finite(module);
  widelimit::python::bind_machine(module);
  widelimit::python::bind_paths(module);
  widelimit::python::bind_gaussian_process(module);
  widelimit::python::bind_likelihood(module);
  widelimit::python::bind_ridge_network(module);
  widelimit::python::bind_model(module);
  widelimit::python::bind_scores(module);
  widelimit::python::bind_compare(module);
  widelimit::python::bind_dynamics(module);
  widelimit::python::bind_ensemble(module);
  widelimit::python::bind_spectrum(module);
  widelimit::python::bind_certificate(module);
  widelimit::python::bind_bounds(module);
  widelimit::python::bind_equivalence(module);
  widelimit::python::bind_hierarchy(module);
  widelimit::python::bind_evolution(module);
}
