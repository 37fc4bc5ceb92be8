#include "rooms.hpp"
#include "widelimit/engine/select.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace widelimit::python {

void bind_backend(nb::module_& module) {
  nb::class_<BackendPresence>(module, "BackendPresence", "A back end, or why it is not there.")
      .def_ro("name", &BackendPresence::name)
      .def_ro("present", &BackendPresence::present)
      .def_ro("detail", &BackendPresence::detail)
      .def("__repr__", [](const BackendPresence& backend) {
        return fmt::format("<{}: {}{}>", backend.name, backend.present ? "" : "absent: ", backend.detail);
      });
  module.def("backends", &list_backends, R"(Every back end, and why one is absent.

>>> import widelimit as wl
>>> [backend.name for backend in wl.backends() if backend.present][:2]
['cpu', 'reference'])");
}

}  // namespace widelimit::python
