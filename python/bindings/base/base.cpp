#include "python/bindings/base/option_reader.hpp"
#include "python/bindings/base/remedies.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/utf8.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/file/location.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <string>
#include <vector>

namespace nb = nanobind;

namespace widelimit::python {

namespace {

/// Python exception types that Error is translated to. Never freed, since a translator cannot be unregistered.
struct Exceptions {
  nb::object input;
  nb::object numerical;
  nb::object resource;

  [[nodiscard]] nb::handle of(Code code) const {
    switch (code) {
      case Code::usage:
      case Code::input:
        return input;
      case Code::numerical:
        return numerical;
      case Code::resource:
        return resource;
      case Code::interrupted:
        return PyExc_KeyboardInterrupt;
    }
    return PyExc_RuntimeError;
  }
};

/// bases: a class or a tuple of classes.
nb::object make_exception(nb::module_& module, const char* name, const char* doc, PyObject* bases) {
  const std::string full = nb::cast<std::string>(module.attr("__name__")) + "." + name;
  auto type = nb::steal(PyErr_NewExceptionWithDoc(full.c_str(), doc, bases, nullptr));
  if (!type.is_valid()) throw nb::python_error();
  module.attr(name) = type;
  return type;
}

/// The type of fail_type, which the module keeps.
PyObject*& input_type_error() {
  static PyObject* type = nullptr;
  return type;
}

/// Returns the Python argument for a remedy, or an empty text if the message itself describes it.
std::string_view argument_of(Remedy remedy) {
  switch (remedy) {
    case Remedy::resume:
      return "resume=True";
    case Remedy::begin_again:
      return "resume=False";
    case Remedy::mirror:
      return "mirror='https://…'";
    case Remedy::treat_missing:
      return "missing='drop', 'mean' or 'median'";
    case Remedy::choose_columns:
      return "drop=[…] or categorical=[…]";
    case Remedy::choose_task:
      return "task='regression' or 'classification'";
    case Remedy::image_shape:
      return "x.reshape(len(x), height, width, channels)";
    case Remedy::channels_first:
      return "channels_first=True";
    case Remedy::ignore_labels:
      return "label='none'";
    case Remedy::more_directions:
      return "samples=…";
    case Remedy::direction_limit:
      return "max_samples=…";
    case Remedy::more_memory:
    case Remedy::fewer_samples:
    case Remedy::single_precision:
      break;
  }
  return "";
}

}  // namespace

std::string arguments_of(const std::vector<Remedy>& remedies) {
  std::string names;
  for (const Remedy remedy : remedies) {
    const std::string_view argument = argument_of(remedy);
    if (!argument.empty()) names += fmt::format("{}{}", names.empty() ? "" : ", ", argument);
  }
  return names.empty() ? "" : " (" + names + ")";
}

void fail_type(const char* name, nb::handle value, const char* expected) {
  // An object may return any text, also without an encoding in UTF-8.
  const nb::object shown = nb::steal(PyObject_ASCII(value.ptr()));
  const nb::object plain = nb::steal(PyObject_Repr(value.ptr()));
  if (!shown.is_valid() || !plain.is_valid()) throw nb::python_error();
  const char* text = PyUnicode_AsUTF8(plain.ptr());
  if (text == nullptr) {
    PyErr_Clear();
    text = PyUnicode_AsUTF8(shown.ptr());
  }
  PyErr_SetString(input_type_error(), printable(fmt::format("{} is {}; give {}", name, text, expected)).c_str());
  throw nb::python_error();
}

namespace {

void translate(const std::exception_ptr& thrown, void* payload) {
  try {
    std::rethrow_exception(thrown);
  } catch (const MissingSet& missing) {
    const std::string how = missing.fetch_name().empty()
                                ? ""
                                : fmt::format("\nTo fetch it: widelimit.fetch_data('{}')", missing.fetch_name());
    PyErr_SetString(static_cast<const Exceptions*>(payload)->of(missing.code()).ptr(),
                    printable(missing.what() + how).c_str());
  } catch (const Error& error) {
    const std::string message = error.what() + arguments_of(error.remedies());
    PyErr_SetString(static_cast<const Exceptions*>(payload)->of(error.code()).ptr(), printable(message).c_str());
  }
}

}  // namespace

void bind_base(nb::module_& module) {
  auto* const exceptions =
      new Exceptions{make_exception(module, "InputError", "Invalid data, file, network or argument.", PyExc_ValueError),
                     make_exception(module, "NumericalError", "The computation has no usable numerical result.",
                                    PyExc_ArithmeticError),
                     make_exception(module, "ResourceError", "Not enough memory or disk.", PyExc_MemoryError)};
  const nb::tuple bases = nb::make_tuple(exceptions->input, nb::handle(PyExc_TypeError));
  input_type_error() = make_exception(module, "InputTypeError", "An option of the wrong type.", bases.ptr()).ptr();
  nb::register_exception_translator(translate, exceptions);
  module.def("version", &version, "Version of the library.");
}

}  // namespace widelimit::python
