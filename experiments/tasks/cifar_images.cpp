#include "experiments/tasks/cifar_images.hpp"

#include "widelimit/data/request.hpp"

#include <utility>

namespace widelimit::experiment {

std::vector<double> CifarImages::picture(Index test_image) const {
  std::vector<double> pixels;
  std::visit(
      [&](const auto& rows) {
        const auto* row = rows.row(test_image);
        pixels.assign(row, row + rows.cols);
      },
      test.view().dense("pictures"));
  for (std::size_t j = 0; j < pixels.size(); ++j) pixels[j] = pixels[j] * scaling.scale()[j] + scaling.shift()[j];
  return pixels;
}

CifarImages cifar_images(const Setting& setting, Index train, Index test) {
  DataRequest request{.train = "cifar10:train", .test = "cifar10:test"};
  request.limit = train;
  request.test_limit = test;
  request.scale = Scaling::channel;
  TrainTest data = setting.load(request);
  return {.train = std::move(data.train), .test = std::move(*data.test), .scaling = std::move(*data.scaling)};
}

}  // namespace widelimit::experiment
