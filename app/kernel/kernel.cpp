#include "app/kernel/kernel_file.hpp"
#include "app/kernel/kernel_options.hpp"
#include "app/kernel/kernel_report.hpp"
#include "app/kernel/kernel_store.hpp"
#include "app/shell/interrupt.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

namespace widelimit::app {

namespace {

using Json = nlohmann::ordered_json;

KernelAnswer compute(const KernelOptions& options, KernelRequest& request, const TrainTest& data,
                     const Engine& engine) {
  ProgressBar bar(options.common);
  request.progress = &bar;
  KernelAnswer answer = compute_kernel(request, data.train, data.test, engine);
  stop_if_interrupted();
  return answer;
}

Json answer_settings(const KernelOptions& options, const Json& settings, const KernelAnswer& answer,
                     const Dataset& train) {
  Json all = file_settings(options.common, settings, train);
  all["route"] = answer.route;
  all["quadrature_error"] = answer.quadrature_error;
  if (answer.monte_carlo) {
    all["precision"] = "f64";
    all["monte_carlo"] = {{"width", options.width}, {"draws", options.draws}};
  }
  if (!answer.layers.empty()) all["layers"] = answer.layers;
  return all;
}

std::string summary(const KernelOptions& options, const KernelAnswer& answer) {
  std::string text = table_text(array_table(array_facts(answer)));
  if (answer.quadrature_error > 0) text += fmt::format("quadrature error  {:.1e}\n", answer.quadrature_error);
  if (answer.monte_carlo) text += fmt::format("standard error    {:.1e} of the largest entry\n", answer.standard_error);
  text += fmt::format("{:.3g} s, {:.3g} pairs/s\n", answer.seconds, pairs_per_second(answer.pairs, answer.seconds));
  return text + files_text(options.common, options.out);
}

void run(const KernelOptions& options) {
  KernelRequest request = options.request();
  const DataRequest data_request = options.data.parsed();
  const auto engine = options.common.make_engine();
  options.common.check_report(true);
  options.common.check_apart(options.out, options.data.specs());
  check_kernel_path(options.out, 0);
  const TrainTest data = load_within(options.common, data_request);
  if (options.stored(request)) return run_stored(options, request, data_request, data, *engine);
  const Index test_count = data.test ? data.test->count() : 0;
  check_kernel_path(options.out, answer_bytes(request, data.train.count(), test_count, data.train.shape));

  const KernelAnswer answer = compute(options, request, data, *engine);
  note(options.common, "route: " + answer.route);
  warn_of(options.common, answer.quadrature_error, request.precision);
  const Json settings = kernel_settings(options, request, data_request);
  Record record("kernel");
  record.settings = settings;
  record.seed = options.common.seed;
  record.ran_on(*engine, answer.monte_carlo ? Precision::f64 : request.precision);
  record.timings.emplace_back("kernel", answer.seconds);
  record.results = answer_json(answer);
  record.results["file"] = options.out;
  write_kernel(options.out, answer, data, answer_settings(options, settings, answer, data.train));
  if (options.common.report) {
    const std::string title = options.classical.value_or(options.networks.empty() ? "" : options.networks.front());
    record.results["analysis"] =
        write_kernel_page(*options.common.report, title, answer, data.train, settings, options.common.seed);
    record.results["report"] = *options.common.report;
  }
  deliver(options.common, record, summary(options, answer));
}

}  // namespace

void add_kernel(Program& program) {
  auto* verb = program.cli.add_subcommand("kernel", "The Gram matrix of a network's limit kernels on data");
  const auto options = std::make_shared<KernelOptions>();
  add_kernel_options(*verb, *options);
  set_example(*verb, "widelimit kernel --network fc:3 --train digits --limit 200 --kind nngp,ntk --out k.npz");
  verb->callback([options, &program] { program.action = [options] { run(*options); }; });
}

}  // namespace widelimit::app
