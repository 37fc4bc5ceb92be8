#include "app/demo/demo_equivalence.hpp"

#include "app/shell/interrupt.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/network_targets.hpp"
#include "widelimit/report/equivalence_figures.hpp"

#include <fmt/format.h>

namespace widelimit::app {

Equivalence show_equivalence(const CommonOptions& options, const Engine& engine) {
  ProgressBar bar(options);
  stop_if_interrupted();
  DataRequest request{.train = "digits"};
  request.classes = {"0", "1"};
  request.limit = 40;
  request.scale = Scaling::minmax;
  const TrainTest data = load_within(options, request);
  EquivalenceOptions how;
  TrainOptions& train = how.train;
  train.loss.kind = LossKind::hinge;
  train.lambda = 1;
  train.rate = 0.1 / static_cast<double>(data.train.count());
  train.steps = 100;
  train.seed = options.seed;
  train.threads = options.threads;
  train.memory = options.memory_limit();
  train.progress = &bar;
  how.widths = {64, 256, 1024};
  how.seeds = 2;
  const NetworkTargets targets = network_targets(data, train.loss);
  Equivalence result = equivalence(Network::parse("fc:2(w_std=1.4142)"), targets.with(data), how, engine);
  if (const std::string trouble = result.trouble(); !trouble.empty()) fail(Code::numerical, "{}", trouble);
  return result;
}

void add_equivalence_section(Page& page, const Equivalence& result) {
  page.section("Networks of finite width beside their machine").table(equivalence_table(result));
  page.paragraph(fmt::format(
      "Networks of three layers and the support vector machine of their tangent kernel learn to tell 0 from "
      "1 by the same {} steps. The wider the network, the nearer it stays: the largest difference of outputs "
      "falls with the width as a power of {} (95 %); theory has −½.",
      result.steps.back(), slope_text(result.slope)));
  page.figures({equivalence_outputs(result), difference_by_width(result)});
}

}  // namespace widelimit::app
