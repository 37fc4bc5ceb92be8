#include "app/kernel_file.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/hdf5.hpp"
#include "widelimit/data/npz.hpp"

namespace widelimit::app {

namespace {

bool is_hdf5(const std::filesystem::path& path) { return path.extension() == ".h5" || path.extension() == ".hdf5"; }

using Integers = std::vector<std::int64_t>;

/// Class numbers as `storage`, or targets; nothing where there are no labels.
void add_labels(std::vector<NamedArray>& arrays, const std::string& name, const Dataset& data, Integers& storage) {
  const Index n = data.count();
  storage.assign(data.labels.begin(), data.labels.end());
  if (!storage.empty()) {
    arrays.push_back({name, MatrixView<const std::int64_t>{storage.data(), 1, n, n}, {n}});
  } else if (!data.targets.empty()) {
    arrays.push_back({name, MatrixView<const double>{data.targets.data(), 1, n, n}, {n}});
  }
}

}  // namespace

void check_kernel_path(const std::filesystem::path& path, double bytes) {
  if (path.extension() != ".npz" && !is_hdf5(path)) {
    fail(Code::usage, "--out {}: the ending must be .npz or .h5", path.string());
  }
  AtomicFile probe(path);
  if (bytes >= 1) probe.require_space(static_cast<std::size_t>(bytes));
}

void write_kernel(const std::filesystem::path& path, const KernelAnswer& answer, const TrainTest& data,
                  const nlohmann::ordered_json& settings) {
  std::vector<NamedArray> arrays;
  for (const NamedMatrix& matrix : answer.matrices) {
    std::visit([&](const auto& m) { arrays.push_back({matrix.name, m.view(), matrix.dims}); }, matrix.values);
  }
  Integers train;
  Integers test;
  add_labels(arrays, "y", data.train, train);
  if (data.test) add_labels(arrays, "y_test", *data.test, test);
  const std::string text = settings.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (is_hdf5(path)) {
    write_hdf5(path, arrays, text);
  } else {
    write_npz(path, arrays, text);
  }
}

}  // namespace widelimit::app
