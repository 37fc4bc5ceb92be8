#include "widelimit/finite/training/network_targets.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/labels/labels.hpp"
#include "widelimit/finite/training/targets.hpp"

#include <algorithm>

namespace widelimit {

Matrix<double> training_targets(const Dataset& data, const std::vector<std::string>& classes, const Loss& loss) {
  require_one_target(data);
  if (!data.labels.empty()) return class_targets(data.labels, std::ssize(classes), loss);
  if (data.targets.empty()) {
    fail(Code::input, "{} has no labels; training needs them: name their column", data.name);
  }
  Matrix<double> targets(data.count(), 1);
  std::copy(data.targets.begin(), data.targets.end(), targets.data());
  return targets;
}

TrainData NetworkTargets::with(const TrainTest& data) const {
  TrainData given{data.train.view(), train.view()};
  if (data.test) given.test = data.test->view();
  if (test.rows() > 0) given.test_y = test.view();
  return given;
}

NetworkTargets network_targets(const TrainTest& data, const Loss& loss) {
  NetworkTargets targets{.train = training_targets(data.train, data.train.class_names, loss), .test = {}};
  if (data.test && (!data.test->labels.empty() || !data.test->targets.empty())) {
    targets.test = training_targets(*data.test, data.train.class_names, loss);
  }
  return targets;
}

}  // namespace widelimit
