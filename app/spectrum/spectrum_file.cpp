#include "app/kernel/kernel_file.hpp"
#include "app/spectrum/spectrum_outcome.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/report/csv.hpp"

#include <algorithm>
#include <deque>

namespace widelimit::app {

namespace {

Table directions_table(const SpectrumOutcome& outcome) {
  Table table{.columns = {"direction", "eigenvalue"}};
  for (const NamedLabels& one : outcome.labels) {
    const Index outputs = one.labels.projections().cols();
    for (Index c = 0; c < outputs; ++c) {
      table.columns.push_back(outputs == 1 ? one.name : fmt::format("{}_{}", one.name, c));
    }
  }
  const std::vector<double>& values = outcome.spectrum->eigenvalues();
  for (Index i = 0; i < std::ssize(values); ++i) {
    std::vector<Cell> row{std::int64_t{i + 1}, values[usize(i)]};
    for (const NamedLabels& one : outcome.labels) {
      const Matrix<double>& projections = one.labels.projections();
      for (Index c = 0; c < projections.cols(); ++c) row.emplace_back(projections(i, c));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

void check_spectrum_path(const std::filesystem::path& path) {
  if (path.extension() != ".csv" && path.extension() != ".npz" && !is_hdf5(path)) {
    fail(Code::usage, "--out {}: the extension must be .csv, .npz or .h5", path.string());
  }
  check_writable(path, 0);
}

void write_spectrum(const std::filesystem::path& path, const SpectrumOutcome& outcome,
                    const nlohmann::ordered_json& settings) {
  if (path.extension() == ".csv") {
    write_csv(directions_table(outcome), path);
    return;
  }
  const std::vector<double>& values = outcome.spectrum->eigenvalues();
  const Index n = std::ssize(values);
  const Matrix<double> vectors = outcome.spectrum->eigenvectors();
  std::vector<NamedArray> arrays{{"eigenvalues", MatrixView<const double>{values.data(), 1, n, n}, {n}},
                                 {"eigenvectors", vectors.view(), {}}};
  std::deque<std::vector<std::int64_t>> steps;  // storage of the views
  for (std::size_t k = 0; k < outcome.labels.size(); ++k) {
    // Array names must not contain colons.
    std::string name = outcome.labels[k].name;
    std::replace(name.begin(), name.end(), ':', '_');
    arrays.push_back({"projections_" + name, outcome.labels[k].labels.projections().view(), {}});
    if (outcome.networks.empty()) continue;
    const ModeDynamics& network = outcome.networks[k];
    const Index count = std::ssize(network.steps);
    steps.emplace_back(network.steps.begin(), network.steps.end());
    arrays.push_back({"steps_" + name, MatrixView<const std::int64_t>{steps.back().data(), 1, count, count}, {count}});
    arrays.push_back({"measured_" + name, network.measured.view(), {}});
    arrays.push_back({"predicted_" + name, network.predicted.view(), {}});
  }
  write_arrays(path, arrays, settings);
}

}  // namespace widelimit::app
