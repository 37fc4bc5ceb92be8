#include "widelimit/data/fetch/fetch.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/base/error.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

/// Forwards reports to a Python callable, or None; handles Ctrl-C and exceptions of the callable.
class CallbackProgress final : public Progress {
 public:
  explicit CallbackProgress(const nb::object& report) : report_(report) {}

  bool update(std::int64_t done, std::int64_t total, std::string_view) override {
    const nb::gil_scoped_acquire lock;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!report_.is_none()) report_(done, total);
      return true;
    } catch (const nb::python_error&) {
      raised_ = std::current_exception();
      return false;
    }
  }

  /// Rethrows the exception that was raised, if any.
  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  const nb::object& report_;
  std::exception_ptr raised_;
};

nb::list fetch(const std::vector<std::string>& names, const std::optional<std::string>& mirror,
               const std::optional<std::string>& folder, std::optional<bool> force, std::optional<double> stall,
               std::optional<int> retries, const nb::object& progress) {
  FetchOptions options;
  if (mirror) options.mirror = *mirror;
  if (folder) options.folder = *folder;
  if (force) options.replace = *force;
  if (stall) options.stall = *stall;
  if (retries) options.retries = *retries;
  CallbackProgress callback_progress(progress);
  options.progress = &callback_progress;
  std::vector<FetchedFile> files;
  {
    const nb::gil_scoped_release unlock;
    try {
      files = fetch_data(names, options);
    } catch (const Error& error) {
      if (error.code() == Code::interrupted) callback_progress.rethrow();
      // For fetching, the argument of this remedy is force.
      if (error.remedies() != std::vector{Remedy::begin_again}) throw;
      throw Error(error.code(), std::string(error.what()) + " (force=True)");
    }
  }
  nb::list list;
  for (const FetchedFile& file : files) {
    list.append(nb::make_tuple(file.set, file.path.string(), file.bytes, file.fetched));
  }
  return list;
}

}  // namespace

void bind_fetch(nb::module_& module) {
  module.def("fetch", &fetch, "names"_a, "mirror"_a.none(), "folder"_a.none(), "force"_a.none(), "stall"_a.none(),
             "retries"_a.none(), "progress"_a.none(), "(spec, path, bytes, fetched) of every file.");
}

}  // namespace widelimit::python
