#include "experiments/mnist_task.hpp"

#include "widelimit/data/request.hpp"
#include "widelimit/kernel/request.hpp"

namespace widelimit::experiment {

MnistTask mnist_task(const Setting& setting, const std::string& network, const std::vector<std::string>& classes,
                     Index samples) {
  KernelRequest wanted{.kernel = Network::parse(network)};
  wanted.kind = Kind::ntk;
  wanted.precision = setting.precision;
  wanted.memory = setting.memory;
  wanted.progress = setting.progress;
  DataRequest request{.train = "mnist:train", .test = "mnist:test"};
  request.classes = classes;
  request.limit = samples;
  request.scale = Scaling::byte;
  request.memory = setting.memory;
  request.progress = setting.progress;
  TrainTest data = load_train_test(request);
  KernelAnswer answer = compute_kernel(wanted, data.train, data.test, setting.engine);
  MnistTask task{.train = std::move(data.train),
                 .test = std::move(*data.test),
                 .k = {},
                 .k_test = {},
                 .semidefinite = answer.semidefinite,
                 .seconds = answer.seconds,
                 .route = answer.route};
  for (NamedMatrix& matrix : answer.matrices) {
    (matrix.name == "ntk" ? task.k : task.k_test) = std::move(matrix.values);
  }
  return task;
}

}  // namespace widelimit::experiment
