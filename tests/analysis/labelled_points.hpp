#pragma once

#include "widelimit/base/random.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/network/activation.hpp"

#include <cmath>
#include <utility>
#include <variant>
#include <vector>

namespace widelimit {

/// Normal samples and labels −1, 1.
struct LabelledPoints {
  LabelledPoints(Index samples, Index tests, Index features, double scale = 1)
      : x(samples + tests, features), n(samples) {
    Random(17, static_cast<std::uint64_t>(features)).normals(0, x.rows() * features, scale, x.data());
    for (Index i = 0; i < n; ++i) y.push_back(x(i, 0) + x(i, features - 1) > 0 ? 1.0 : -1.0);
  }
  [[nodiscard]] SampleView train() const { return {x.view().block(0, 0, n, x.cols()), Shape{1, 1, x.cols()}}; }
  [[nodiscard]] SampleView test() const {
    return {x.view().block(n, 0, x.rows() - n, x.cols()), Shape{1, 1, x.cols()}};
  }
  [[nodiscard]] Matrix<double> gram_of(const Activation& phi) const {
    const Network network{{Dense{.w_std = std::sqrt(static_cast<double>(x.cols()))}, phi, Dense{}}};
    return std::move(std::get<Matrix<double>>(gram(network, train(), {}, all_processors()).ntk));
  }

  Matrix<double> x;
  Index n;
  std::vector<double> y;
};

}  // namespace widelimit
