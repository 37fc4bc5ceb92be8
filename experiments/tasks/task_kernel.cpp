#include "experiments/tasks/task_kernel.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/kernel/file/gram_file.hpp"
#include "widelimit/kernel/file/write_gram.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/request.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>
#include <vector>

namespace widelimit::experiment {

namespace {

TaskKernel in_memory(const Setting& setting, const Network& network, const SampleView& train, const SampleView& test) {
  KernelRequest request{.kernel = network};
  request.kind = Kind::ntk;
  request.precision = setting.precision;
  request.memory = setting.memory;
  request.progress = setting.progress;
  KernelResult result = compute_kernel(request, train, test, setting.engine);
  TaskKernel kernel{.k = {},
                    .k_test = {},
                    .semidefinite = result.semidefinite,
                    .seconds = result.seconds,
                    .route = std::move(result.route)};
  for (NamedMatrix& matrix : result.matrices) {
    (matrix.name == "ntk" ? kernel.k : kernel.k_test) = std::move(matrix.values);
  }
  return kernel;
}

/// Resumes an existing file; removes the remedy `resume` from errors, since experiments have no such option.
GramFileSummary written(const Setting& setting, const Network& network, const std::vector<GramBlock>& blocks,
                        const std::filesystem::path& file) {
  GramFileOptions options{.kind = Kind::ntk, .precision = setting.precision, .memory = setting.memory};
  options.existing = Existing::resume;
  options.progress = setting.progress;
  try {
    return write_gram(file, {&network, 1}, blocks, options, setting.engine);
  } catch (const Error& error) {
    std::vector<Remedy> remedies = error.remedies();
    std::erase(remedies, Remedy::resume);
    throw Error(error.code(), error.what(), std::move(remedies));
  }
}

AnyMatrix matrix_of(const std::filesystem::path& file, const char* name) {
  const GramFile gram(file, name);
  return gram.read(0, 0, gram.rows(), gram.cols());
}

TaskKernel in_file(const Setting& setting, const Network& network, const SampleView& train, const SampleView& test,
                   const std::filesystem::path& file) {
  const GramFileSummary summary = written(setting, network, {{"", train, std::nullopt}, {"test_", test, train}}, file);
  return {.k = matrix_of(file, "ntk"),
          .k_test = matrix_of(file, "test_ntk"),
          .semidefinite = Gram{.symmetric = true, .quadrature_error = summary.quadrature_error}.semidefinite(),
          .seconds = summary.seconds,
          .route = summary.routes.front()};
}

}  // namespace

AnyView corner(const AnyMatrix& kernel, Index rows, Index cols) {
  return std::visit([&](const auto& m) { return AnyView(m.view().block(0, 0, rows, cols)); }, kernel);
}

TaskKernel task_kernel(const Setting& setting, const Network& network, const SampleView& train, const SampleView& test,
                       const std::optional<std::filesystem::path>& file) {
  return file ? in_file(setting, network, train, test, *file) : in_memory(setting, network, train, test);
}

AnyMatrix square_kernel(const Setting& setting, const Network& network, const SampleView& samples,
                        const std::optional<std::filesystem::path>& file) {
  if (!file) {
    return gram(network, samples, {.precision = setting.precision, .progress = setting.progress}, setting.engine).ntk;
  }
  written(setting, network, {{"", samples, std::nullopt}}, *file);
  return matrix_of(*file, "ntk");
}

Option grams_option() {
  return {"grams", "DIR", "Folder for Gram matrices, computed tile by tile; existing matrices are reused", "", ""};
}

std::optional<std::filesystem::path> gram_folder(const Setting& setting) {
  const std::string& folder = setting.text("grams");
  if (folder.empty()) return std::nullopt;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) fail(Code::resource, "cannot create the folder '{}': {}", folder, failure.message());
  return folder;
}

std::optional<std::filesystem::path> gram_file(const std::optional<std::filesystem::path>& folder,
                                               const std::string& name, Index train, Index test, Precision precision) {
  if (!folder) return std::nullopt;
  return *folder / fmt::format("{}-{}-{}-{}.h5", name, train, test, to_string(precision));
}

}  // namespace widelimit::experiment
