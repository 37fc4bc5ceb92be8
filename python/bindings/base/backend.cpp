#include "python/bindings/rooms.hpp"
#include "widelimit/engine/select.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace widelimit::python {

void bind_engine(nb::module_& module) {
  nb::class_<EnginePresence>(module, "BackendPresence", "A back end, and why it is absent if it is.")
      .def_ro("name", &EnginePresence::name)
      .def_ro("present", &EnginePresence::present)
      .def_ro("detail", &EnginePresence::detail)
      .def("__repr__", [](const EnginePresence& engine) {
        return fmt::format("<{}: {}{}>", engine.name, engine.present ? "" : "absent: ", engine.detail);
      });
  module.def("backends", &list_engines, R"(All back ends; for an absent one, the reason.

>>> import widelimit as wl
>>> [engine.name for engine in wl.backends() if engine.present][:2]
['cpu', 'reference'])");
}

}  // namespace widelimit::python
