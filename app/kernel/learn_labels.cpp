#include "app/kernel/learn_labels.hpp"

#include "app/shell/interrupt.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"

namespace widelimit::app {

namespace {

/// Samples up to which the spectrum is told where nobody asked for its repair: O(n³).
constexpr Index most_spectrum = 4000;

}  // namespace

void check_label_aware(const KernelRequest& request, std::size_t networks, bool kept) {
  const bool formulas =
      std::holds_alternative<ClassicalKernel>(request.kernel) || (request.kind != Kind::both && by_formulas(request));
  if (request.quantity != KernelQuantity::gram || networks > 1 || !formulas) {
    fail(Code::usage,
         "--label-aware takes one Gram matrix, by formulas: one --network or --classical, --kind ntk or nngp, and "
         "neither --sweep, --layers nor --diagonal");
  }
  if (kept) fail(Code::usage, "--label-aware holds the Gram matrix in memory; leave --resume and --force out");
}

void require_classes(const Dataset& train) {
  if (!train.labels.empty()) return;
  fail(Code::input, "{} has no classes, which --label-aware needs; --label names their column", train.name);
}

LabelAwareKernels learn_labels(const CommonOptions& common, const LabelAwareOptions& asked, KernelAnswer& answer,
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
                                            std::ssize(data.train.class_names), asked, engine, &bar);
  if (asked.psd == Psd::none && data.train.count() <= most_spectrum) {
    EngineMatrix held = engine.algebra().hold(view_of(*train));
    made.repair = repair_spectrum(held, Psd::none, engine, &bar);
  }
  stop_if_interrupted();
  return made;
}

}  // namespace widelimit::app
