#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/utf8.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/kernel/file/gram_file.hpp"
#include "widelimit/kernel/file/write_gram.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

using Text = std::optional<std::string>;

/// Returns the settings that are stored in the file.
nlohmann::ordered_json settings_of(const std::vector<Network>& networks, const GramFileOptions& options,
                                   const std::string& kind, const std::string& backend) {
  nlohmann::ordered_json settings{{"widelimit", version()}};
  if (networks.size() == 1) {
    settings["network"] = networks.front().to_text();
    settings["network_json"] = nlohmann::ordered_json(networks.front().to_json());
  } else {
    for (const Network& network : networks) settings["networks"].push_back(network.to_text());
  }
  settings["kind"] = kind;
  settings["precision"] = to_string(options.precision);
  settings["backend"] = backend;
  return settings;
}

/// Returns the names of the matrices and their quadrature error.
nb::tuple store(const std::string& path, const std::vector<Network>& networks, const SampleArray& x1,
                const std::optional<SampleArray>& x2, const std::string& kind, const Text& precision,
                const std::string& backend, std::optional<int> threads, const Text& memory,
                std::optional<bool> resume) {
  const GramFileSummary summary = unlocked([&](Progress* progress) {
    GramFileOptions options;
    options.kind = parse_kind(kind);
    if (precision) options.precision = parse_precision(*precision);
    if (memory) options.memory = parse_bytes(*memory);
    if (resume) options.existing = *resume ? Existing::resume : Existing::replace;
    options.progress = progress;
    options.settings = settings_of(networks, options, kind, backend);
    const GramBlock block{"", view_samples(x1), x2 ? std::optional(view_samples(*x2)) : std::nullopt};
    return write_gram(path, networks, {&block, 1}, options, engine_of(backend, threads));
  });
  std::vector<std::string> names;
  for (const auto& matrix : summary.matrices) names.push_back(matrix.name);
  return nb::make_tuple(names, summary.quadrature_error);
}

}  // namespace

void bind_stored(nb::module_& module) {
  module.def("store_gram", &store, "path"_a, "networks"_a, "x1"_a, "x2"_a.none(), "kind"_a, "precision"_a.none(),
             "backend"_a, "threads"_a.none(), "memory"_a.none(), "resume"_a.none(),
             "Computes kernels into an HDF5 file; returns (names of the matrices, quadrature_error).");
  nb::class_<GramFile>(module, "StoredGram", "A Gram matrix in an HDF5 file.")
      .def(nb::init<const std::string&, const Text&>(), "path"_a, "name"_a.none())
      .def_prop_ro("name", [](const GramFile& gram) { return printable(gram.name()); })
      .def_prop_ro("rows", &GramFile::rows)
      .def_prop_ro("cols", &GramFile::cols)
      .def_prop_ro("precision", [](const GramFile& gram) { return std::string(to_string(gram.precision())); })
      .def_prop_ro("settings", [](const GramFile& gram) { return printable(gram.settings()); })
      .def_prop_ro("names",
                   [](const GramFile& gram) {
                     std::vector<std::string> names = gram.names();
                     for (std::string& name : names) name = printable(name);
                     return names;
                   })
      .def(
          "read",
          [](const GramFile& gram, Index row, Index col, Index rows, Index cols) {
            return as_array(unlocked([&](Progress*) { return gram.read(row, col, rows, cols); }));
          },
          "row"_a, "col"_a, "rows"_a, "cols"_a, "The block of size rows × cols at (row, col).");
}

}  // namespace widelimit::python
