// A program outside the tree: it uses only what widelimit installs.

#include "widelimit/base/version.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"

#include <cmath>
#include <cstdio>

int main() {
  widelimit::Matrix<double> rows(2, 2);
  rows(0, 0) = 1;
  rows(0, 1) = 0;
  rows(1, 0) = 0;
  rows(1, 1) = 1;
  const widelimit::SampleView train(rows.view(), widelimit::Shape{1, 1, 2});

  const auto network = widelimit::Network::parse("fc:3(w_std=1.4142)");
  const auto gram = widelimit::gram(network, train, {.kind = widelimit::Kind::ntk}, *widelimit::make_engine("cpu"));
  const auto& ntk = std::get<widelimit::Matrix<double>>(gram.ntk);
  std::printf("widelimit %s, %s: %.6f %.6f\n", widelimit::version().data(), network.to_text().c_str(), ntk(0, 0),
              ntk(0, 1));

  // Θ(x, x) = (L+1)·w²·(w²/2)^L·‖x‖²/d for ReLU: each of the L+1 weight layers adds the final variance once.
  const double w2 = 1.4142 * 1.4142;
  const double exact = 4 * w2 * std::pow(w2 / 2, 3) / 2;
  const bool right = std::abs(ntk(0, 0) - exact) < 1e-12 && ntk(0, 1) > 0 && ntk(0, 1) == ntk(1, 0);
  return right ? 0 : 1;
}
