#include "app/shell/loading.hpp"

#include "app/shell/interrupt.hpp"
#include "app/shell/progress_bar.hpp"

namespace widelimit::app {

TrainTest load_within(const CommonOptions& common, DataRequest request) {
  ProgressBar bar(common);
  request.memory = common.memory_limit();
  request.progress = &bar;
  TrainTest data = load_train_test(request);
  stop_if_interrupted();
  return data;
}

}  // namespace widelimit::app
