#include "app/kernel/label_aware_kernel.hpp"

#include "app/kernel/kernel_file.hpp"
#include "app/kernel/kernel_report.hpp"
#include "app/shell/interrupt.hpp"
#include "app/shell/label_aware_options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/origin.hpp"
#include "widelimit/kernel/file/known_gram.hpp"
#include "widelimit/kernel/label_aware/label_aware_file.hpp"

namespace widelimit::app {

namespace {

/// Largest number of samples whose spectrum is reported with --psd none; costs O(n³).
constexpr Index most_spectrum = 4000;

}  // namespace

void check_label_aware(const KernelRequest& request, std::size_t networks, bool kept) {
  const bool formulas =
      std::holds_alternative<ClassicalKernel>(request.kernel) || (request.kind != Kind::both && by_formulas(request));
  if (request.quantity != KernelQuantity::gram || networks > 1 || !formulas) {
    fail(Code::usage,
         "--label-aware requires one Gram matrix by formulas: one --network or --classical, --kind ntk or nngp, "
         "without --sweep, --layers and --diagonal");
  }
  if (kept) {
    fail(Code::usage,
         "--label-aware keeps the Gram matrix in memory; leave --resume and --force out, or store the kernel first and "
         "pass it by --gram");
  }
}

void check_gram(bool given, bool wanted) {
  if (!given || wanted) return;
  fail(Code::usage, "--gram requires --label-aware and --out K.h5");
}

void require_classes(const Dataset& train) {
  if (!train.labels.empty()) return;
  fail(Code::input, "{} has no classes, which --label-aware needs; --label names their column", train.name);
}

LabelAwareKernels apply_label_aware(const CommonOptions& common, const LabelAwareOptions& options, KernelResult& answer,
                                    const TrainTest& data, const Engine& engine) {
  ProgressBar bar(common);
  AnyMatrix* train = nullptr;
  AnyMatrix* test = nullptr;
  for (NamedMatrix& matrix : answer.matrices) {
    const bool tested = matrix.name.starts_with("test_");
    (tested ? test : train) = &matrix.values;
    matrix.name = tested ? "test_label_aware" : "label_aware";
  }
  PairSources sources{.train = data.train.view()};
  if (data.test) sources.test = data.test->view();
  LabelAwareKernels made = make_label_aware(*train, test, sources, data.train.labels,
                                            std::ssize(data.train.class_names), options, engine, &bar);
  if (options.psd == Psd::none && data.train.count() <= most_spectrum) {
    EngineMatrix held = engine.algebra().hold(view_of(*train));
    made.repair = repair_spectrum(held, Psd::none, engine, &bar);
    if (const std::string warning = near_zero_warning(made.repair); !warning.empty()) warn(common, warning);
  }
  stop_if_interrupted();
  return made;
}

void apply_label_aware_stored(const CommonOptions& common, const LabelAwareOptions& options,
                              const KernelRequest& request, const LabelAwareFiles& files, const TrainTest& data,
                              const Engine& engine) {
  require_classes(data.train);
  if (common.report) fail(Code::usage, "--report needs whole matrices; leave it or --gram out");
  const Index n = data.train.count();
  const StoredKernel theta{files.gram, gram_name(request), data.test.has_value()};
  (void)open_known_gram(files.gram, theta.name, n, n, request, data.origin);
  PairSources sources{.train = data.train.view()};
  if (data.test) {
    (void)open_known_gram(files.gram, "test_" + theta.name, data.test->count(), n, request, data.origin);
    sources.test = data.test->view();
  }
  const LabelArrays labels(data);
  nlohmann::ordered_json inside = file_settings(common, files.settings, data.train.class_names);
  inside["origin"] = origin_text(data.origin);
  ProgressBar bar(common);
  const LabelAwareFileSummary summary =
      write_label_aware(files.out, theta, sources, data.train.labels, std::ssize(data.train.class_names),
                        {options, request.memory, files.existing, &bar, std::move(inside), labels.arrays()}, engine);
  Record record("kernel");
  record.settings = files.settings;
  record.settings["gram"] = files.gram;
  record.notes = data.notes;
  record.seed = common.seed;
  record.ran_on(engine, request.precision);
  record.timings.emplace_back("kernel", summary.seconds);
  std::vector<ArrayFacts> facts;
  for (const auto& [name, entries] : summary.matrices) facts.push_back({name, {entries.rows, entries.cols}, entries});
  if (!summary.complete_before) record.results["arrays"] = arrays_json(facts);
  record.results["label_aware"] = label_aware_json(summary.made);
  record.results["pairs"] = static_cast<std::int64_t>(summary.pairs);
  record.results["pairs_kept"] = static_cast<std::int64_t>(summary.pairs_kept);
  record.results["complete_before"] = summary.complete_before;
  record.results["seconds"] = summary.seconds;
  record.results["file"] = files.out;
  std::string text = label_aware_summary(summary.made);
  text += summary.complete_before ? fmt::format("{} is already complete\n", files.out)
                                  : table_text(array_table(facts)) + files_text(common, files.out);
  print_result(common, record, text);
}

}  // namespace widelimit::app
