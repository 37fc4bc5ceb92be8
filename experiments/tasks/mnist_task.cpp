#include "experiments/tasks/mnist_task.hpp"

#include "experiments/tasks/task_kernel.hpp"
#include "widelimit/data/request.hpp"

#include <utility>

namespace widelimit::experiment {

MnistTask mnist_task(const Setting& setting, const std::string& network, const std::vector<std::string>& classes,
                     Index samples) {
  DataRequest request{.train = "mnist:train", .test = "mnist:test"};
  request.classes = classes;
  request.limit = samples;
  request.scale = Scaling::byte;
  TrainTest data = setting.load(request);
  TaskKernel kernel = task_kernel(setting, Network::parse(network), data.train.view(), data.test->view());
  return {.train = std::move(data.train),
          .test = std::move(*data.test),
          .k = std::move(kernel.k),
          .k_test = std::move(kernel.k_test),
          .semidefinite = kernel.semidefinite,
          .seconds = kernel.seconds,
          .route = std::move(kernel.route)};
}

}  // namespace widelimit::experiment
