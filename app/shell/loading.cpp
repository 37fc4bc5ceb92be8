#include "app/shell/loading.hpp"

#include "app/shell/interrupt.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/progress_bar.hpp"

namespace widelimit::app {

TrainTest load_request(const CommonOptions& common, DataRequest request) {
  ProgressBar bar(common);
  request.memory = common.memory_limit();
  request.progress = &bar;
  request.seed = common.seed;
  TrainTest data = load_train_test(request);
  stop_if_interrupted();
  for (const std::string& found : data.notes) note(common, found);
  return data;
}

}  // namespace widelimit::app
