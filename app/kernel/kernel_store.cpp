#include "app/kernel/kernel_store.hpp"

#include "app/kernel/kernel_file.hpp"
#include "app/kernel/kernel_report.hpp"
#include "app/shell/interrupt.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/kernel/file/store_gram.hpp"
#include "widelimit/kernel/file/stored_gram.hpp"

#include <fmt/ranges.h>

namespace widelimit::app {

namespace {

using Json = nlohmann::ordered_json;

Existing existing(const KernelOptions& options) {
  if (options.force) return Existing::replace;
  return options.resume ? Existing::resume : Existing::refuse;
}

std::vector<ArrayFacts> array_facts(const StoreSummary& summary) {
  std::vector<ArrayFacts> facts;
  for (const auto& matrix : summary.matrices) {
    facts.push_back({matrix.name, {matrix.entries.rows, matrix.entries.cols}, matrix.entries});
  }
  return facts;
}

StoreSummary store(const KernelOptions& options, const KernelRequest& request, const Json& settings,
                   const TrainTest& data, const Engine& engine) {
  std::vector<GramBlock> blocks{{"", data.train.view(), std::nullopt}};
  if (data.test) blocks.push_back({"test_", data.test->view(), data.train.view()});
  const LabelArrays labels(data);
  ProgressBar bar(options.common);
  StoreOptions how{.kind = request.kind, .precision = request.precision, .memory = request.memory};
  how.existing = existing(options);
  how.progress = &bar;
  how.settings = file_settings(options.common, settings, data.train);
  how.beside = labels.arrays();
  return store_gram(options.out, options.parsed_networks(), blocks, how, engine);
}

Json summary_json(const StoreSummary& summary) {
  Json json;
  if (summary.complete_before) {
    for (const auto& [name, entries] : summary.matrices) json["arrays"][name]["shape"] = {entries.rows, entries.cols};
  } else {
    json["arrays"] = arrays_json(array_facts(summary));
  }
  json["route"] = summary.routes.size() == 1 ? Json(summary.routes.front()) : Json(summary.routes);
  json["monte_carlo"] = false;
  json["quadrature_error"] = summary.quadrature_error;
  json["seconds"] = summary.seconds;
  json["pairs"] = static_cast<std::int64_t>(summary.pairs);
  json["pairs_per_second"] = pairs_per_second(summary.pairs, summary.seconds);
  json["pairs_kept"] = static_cast<std::int64_t>(summary.pairs_kept);
  json["complete_before"] = summary.complete_before;
  json["panels"] = summary.panels;
  json["memory"]["planned"] = summary.memory;
  if (const auto peak = peak_memory()) json["memory"]["peak"] = *peak;
  return json;
}

std::string summary_text(const KernelOptions& options, const StoreSummary& summary) {
  if (summary.complete_before) return fmt::format("{} was complete already\n", options.out);
  std::string text = table_text(array_table(array_facts(summary)));
  if (summary.quadrature_error > 0) text += fmt::format("quadrature error  {:.1e}\n", summary.quadrature_error);
  text += fmt::format("{:.3g} s, {:.3g} pairs/s", summary.seconds, pairs_per_second(summary.pairs, summary.seconds));
  if (summary.pairs_kept > 0) {
    text += fmt::format(", {:.3g} % kept from earlier runs",
                        100 * summary.pairs_kept / (summary.pairs + summary.pairs_kept));
  }
  if (const auto peak = peak_memory()) {
    text += fmt::format(", {} of memory at most", bytes_text(static_cast<double>(*peak)));
  }
  return text + "\n" + files_text(options.common, options.out);
}

/// A page needs whole matrices, so it is refused before the work where they do not fit.
void check_page(const KernelOptions& options, const KernelRequest& request, const TrainTest& data) {
  if (!options.common.report) return;
  if (options.networks.size() > 1) fail(Code::usage, "--report shows one network; run one at a time for their pages");
  require_memory(answer_bytes(request, data.train.count(), data.test ? data.test->count() : 0, data.train.shape),
                 request.memory, "--report, which looks at whole matrices,",
                 "leave it out, take fewer samples (--limit), or allow more (--memory)");
}

Json write_page(const KernelOptions& options, const StoreSummary& summary, const Json& settings, const Dataset& train) {
  KernelAnswer answer;
  answer.route = summary.routes.front();
  answer.seconds = summary.seconds;
  answer.pairs = summary.pairs;
  for (const auto& matrix : summary.matrices) {
    const StoredGram gram(options.out, matrix.name);
    answer.matrices.push_back({matrix.name, gram.read(0, 0, matrix.entries.rows, matrix.entries.cols), {}});
    stop_if_interrupted();
  }
  return write_kernel_page(*options.common.report, options.networks.front(), answer, train, settings,
                           options.common.seed);
}

}  // namespace

void run_stored(const KernelOptions& options, const KernelRequest& request, const DataRequest& data_request,
                const TrainTest& data, const Engine& engine) {
  check_page(options, request, data);
  const Json settings = kernel_settings(options, request, data_request);
  const StoreSummary summary = store(options, request, settings, data, engine);
  note(options.common, fmt::format("route: {}", fmt::join(summary.routes, "; ")));
  warn_of(options.common, summary.quadrature_error, request.precision);
  Record record("kernel");
  record.settings = settings;
  record.seed = options.common.seed;
  record.ran_on(engine, request.precision);
  record.timings.emplace_back("kernel", summary.seconds);
  record.results = summary_json(summary);
  record.results["file"] = options.out;
  if (options.common.report) {
    record.results["analysis"] = write_page(options, summary, settings, data.train);
    record.results["report"] = *options.common.report;
  }
  deliver(options.common, record, summary_text(options, summary));
}

}  // namespace widelimit::app
