#pragma once

#include <nanobind/nanobind.h>

/// Bindings of each room of the library, called by module.cpp in the order of their dependencies.
namespace widelimit::python {

void bind_base(nanobind::module_& module);
void bind_data(nanobind::module_& module);
void bind_graphs(nanobind::module_& module);
void bind_fetch(nanobind::module_& module);
void bind_network(nanobind::module_& module);
void bind_engine(nanobind::module_& module);
void bind_device_array(nanobind::module_& module);
void bind_kernel(nanobind::module_& module);
void bind_label_aware(nanobind::module_& module);
void bind_stored(nanobind::module_& module);
void bind_comparison(nanobind::module_& module);
void bind_finite(nanobind::module_& module);
void bind_machine(nanobind::module_& module);
void bind_paths(nanobind::module_& module);
void bind_gaussian_process(nanobind::module_& module);
void bind_likelihood(nanobind::module_& module);
void bind_ridge_network(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_scores(nanobind::module_& module);
void bind_compare(nanobind::module_& module);
void bind_dynamics(nanobind::module_& module);
void bind_ensemble(nanobind::module_& module);
void bind_spectrum(nanobind::module_& module);
void bind_certificate(nanobind::module_& module);
void bind_bounds(nanobind::module_& module);
void bind_equivalence(nanobind::module_& module);
void bind_hierarchy(nanobind::module_& module);
void bind_evolution(nanobind::module_& module);

}  // namespace widelimit::python
