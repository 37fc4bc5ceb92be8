#include "widelimit/analysis/hierarchy/kernel_at_time.hpp"

#include "widelimit/analysis/hierarchy/hoeffding.hpp"
#include "widelimit/analysis/hierarchy/label_weights.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/network/activation_jet.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace widelimit {
namespace {

constexpr Index samples = 4;
constexpr Index tests = 2;
constexpr Index features = 3;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct FewPoints {
  FewPoints() : x(samples + tests, features), y(samples, 1) {
    Random(8).normals(0, (samples + tests) * features, 1.0, x.data());
    for (Index i = 0; i < samples; ++i) y(i, 0) = i % 2 == 0 ? 1 : -1;
  }
  [[nodiscard]] SampleView train_view() const {
    return {x.view().block(0, 0, samples, features), Shape{1, 1, features}};
  }
  [[nodiscard]] SampleView test_view() const {
    return {x.view().block(samples, 0, tests, features), Shape{1, 1, features}};
  }
  [[nodiscard]] std::span<const double> labels() const { return {y.data(), usize(samples)}; }
  [[nodiscard]] TrainedNetwork network(const std::string& text, Index width, bool centred) const {
    return train(Network::parse(text), {train_view(), y.view()},
                 {.width = width, .rate = 0.1, .steps = 0, .centred = centred, .seed = 5});
  }

  Matrix<double> x;
  Matrix<double> y;
};

/// K⁽²⁾, K⁽³⁾ and K⁽⁴⁾ of f = m^{−1/2} Σ a_r σ(w_r·x/√d), derived by differentiation.
/// [docs/theory/tangent-hierarchy.md]
class TwoLayerTensors {
 public:
  TwoLayerTensors(const TrainedNetwork& network, const FewPoints& data, const Activation& phi)
      : all_(data.x.rows()),
        width_(network.widths.hidden),
        z_(data.x.rows(), data.x.cols()),
        output_(width_),
        jets_(usize(all_ * width_)) {
    const auto& slots = std::get<Parameters<double>>(network.start).slots;
    for (Index i = 0; i < all_; ++i) {
      for (Index k = 0; k < features; ++k) z_(i, k) = data.x(i, k) / std::sqrt(static_cast<double>(features));
      for (Index r = 0; r < width_; ++r) {
        double sum = 0;
        for (Index k = 0; k < features; ++k) sum += z_(i, k) * slots[0].w[usize(k * width_ + r)];
        jets_[usize(i * width_ + r)] = jet(phi, sum);
      }
    }
    output_.assign(slots[1].w.begin(), slots[1].w.end());
  }

  [[nodiscard]] double value(Index x) const {
    double sum = 0;
    for (Index r = 0; r < width_; ++r) sum += output_[usize(r)] * at(x, r).value;
    return sum / std::sqrt(m());
  }
  [[nodiscard]] double second(Index x, Index y) const {
    double sum = 0;
    for (Index r = 0; r < width_; ++r) {
      const double a = output_[usize(r)];
      sum += at(x, r).value * at(y, r).value + a * a * at(x, r).first * at(y, r).first * g(x, y);
    }
    return sum / m();
  }
  [[nodiscard]] double third(Index x, Index y, Index i) const {
    double sum = 0;
    for (Index r = 0; r < width_; ++r) {
      const double a = output_[usize(r)];
      const Jet& f = at(x, r);
      const Jet& h = at(y, r);
      const double b = f.first * h.value * g(x, i) + f.value * h.first * g(y, i);
      const double d = f.second * h.first * g(x, i) + f.first * h.second * g(y, i);
      sum += a * (2 * f.first * h.first * g(x, y) * at(i, r).value + at(i, r).first * (b + a * a * g(x, y) * d));
    }
    return sum / std::pow(m(), 1.5);
  }
  [[nodiscard]] double fourth(Index x, Index y, Index i, Index j) const {
    double sum = 0;
    for (Index r = 0; r < width_; ++r) {
      const double a2 = output_[usize(r)] * output_[usize(r)];
      const Jet& f = at(x, r);
      const Jet& h = at(y, r);
      const Jet& fi = at(i, r);
      const Jet& fj = at(j, r);
      const double b = f.first * h.value * g(x, i) + f.value * h.first * g(y, i);
      const double d = f.second * h.first * g(x, i) + f.first * h.second * g(y, i);
      const double dj = f.second * h.first * g(x, j) + f.first * h.second * g(y, j);
      const double mixed = g(x, i) * g(y, j) + g(y, i) * g(x, j);
      sum += fj.value * (2 * f.first * h.first * g(x, y) * fi.value + fi.first * (b + 3 * a2 * g(x, y) * d));
      sum += a2 * fj.first *
             (2 * g(x, y) * (dj * fi.value + f.first * h.first * fi.first * g(i, j)) +
              fi.second * g(i, j) * (b + a2 * g(x, y) * d) +
              fi.first * (f.second * h.value * g(x, i) * g(x, j) + f.first * h.first * mixed +
                          f.value * h.second * g(y, i) * g(y, j) +
                          a2 * g(x, y) *
                              (f.third * h.first * g(x, i) * g(x, j) + f.second * h.second * mixed +
                               f.first * h.third * g(y, i) * g(y, j))));
    }
    return sum / (m() * m());
  }

 private:
  [[nodiscard]] double m() const { return static_cast<double>(width_); }
  [[nodiscard]] const Jet& at(Index i, Index r) const { return jets_[usize(i * width_ + r)]; }
  [[nodiscard]] double g(Index i, Index j) const {
    return std::inner_product(z_.view().row(i), z_.view().row(i) + features, z_.view().row(j), 0.0);
  }

  Index all_;
  Index width_;
  Matrix<double> z_;
  std::vector<double> output_;
  std::vector<Jet> jets_;
};

/// Finite differences in the weights against closed forms of all tensors, at a finite time and in the limit.
TEST(KernelAtTime, IsTheExpansionByTensors) {
  const FewPoints data;
  for (const bool centred : {false, true}) {
    const TrainedNetwork network = data.network("dense tanh dense", 24, centred);
    const TwoLayerTensors tensors(network, data, {.phi = Phi::tanh});
    Matrix<double> h(samples, samples);
    std::vector<double> residual;
    for (Index i = 0; i < samples; ++i) {
      residual.push_back(data.y(i, 0) - (centred ? 0 : tensors.value(i)));
      for (Index j = 0; j < samples; ++j) h(i, j) = tensors.second(i, j);
    }
    for (const double time : {0.0, 0.3, 4.0, infinity}) {
      const KernelAtTime found =
          kernel_at_time(network, data.train_view(), data.labels(), data.test_view(), {.time = time});
      ASSERT_TRUE(found.remarks.empty());
      const LabelWeights weights = label_weights(h, residual, nullptr, 2 * time);
      for (Index x = 0; x < samples + tests; ++x) {
        const TimedKernel& part = x < samples ? found.train : *found.test;
        const Index row = x < samples ? x : x - samples;
        for (Index y = 0; y < samples; ++y) {
          double first = 0;
          double second = 0;
          for (Index i = 0; i < samples; ++i) {
            first += weights.coefficients[usize(i)] * tensors.third(x, y, i);
            for (Index j = 0; j < samples; ++j) second += weights.pairs(i, j) * tensors.fourth(x, y, i, j);
          }
          const double scale = 1 + std::abs(second) + std::abs(first);
          EXPECT_NEAR(part.start(row, y), tensors.second(x, y), 1e-12);
          EXPECT_NEAR(part.first(row, y), first, 1e-7 * scale) << time;
          EXPECT_NEAR(part.second(row, y), second, 1e-6 * scale) << time;
          EXPECT_EQ(part.values(row, y), part.start(row, y) + part.first(row, y) + part.second(row, y));
        }
      }
    }
  }
}

/// The remainder after second order decreases with the width faster than the change of the kernel.
TEST(KernelAtTime, FollowsATrainedNetworkOfAnyDepth) {
  const FewPoints data;
  const auto errors = [&](Index width) {
    const TrainedNetwork network = data.network("dense tanh dense(b_std=0.3) erf dense", width, true);
    const KernelAtTime found =
        kernel_at_time(network, data.train_view(), data.labels(), {}, {.time = 0.5, .trained = true});
    double moved = 0;
    double left = 0;
    for (Index i = 0; i < samples * samples; ++i) {
      moved = std::max(moved, std::abs(found.train.trained.data()[i] - found.train.start.data()[i]));
      left = std::max(left, std::abs(found.train.trained.data()[i] - found.train.values.data()[i]));
    }
    return std::pair(moved, left);
  };
  const auto [moved, left] = errors(256);
  EXPECT_GT(moved, 1e-3);
  EXPECT_LT(left, moved / 4);
  const auto [wider_moved, wider_left] = errors(1024);
  EXPECT_LT(wider_left, left / 4);
}

TEST(KernelAtTime, WarnsAndRefuses) {
  const FewPoints data;
  const TrainedNetwork relu = data.network("dense relu dense", 16, true);
  EXPECT_EQ(kernel_at_time(relu, data.train_view(), data.labels(), {}, {.time = 0.1}).remarks.size(), 1U);
  EXPECT_THROW((void)kernel_at_time(relu, data.train_view(), data.labels(), {}, {.time = -1}), Error);
  EXPECT_THROW((void)kernel_at_time(relu, data.train_view(), data.labels(), {}, {.trained = true}), Error);
  EXPECT_THROW((void)kernel_at_time(relu, data.train_view(), data.labels().first(2), {}, {.time = 1}), Error);
}

TEST(KernelAtTime, SaysThatNumbersOverflow) {
  FewPoints data;
  const TrainedNetwork network = data.network("dense tanh dense", 16, true);
  const auto message = [&] {
    try {
      (void)kernel_at_time(network, data.train_view(), data.labels(), {}, {.time = 0.1});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::numerical);
      return std::string(error.what());
    }
    return std::string();
  };
  for (Index i = 0; i < samples; ++i) data.y(i, 0) *= 1e300;
  EXPECT_NE(message().find("scale the samples or the labels"), std::string::npos);
  for (Index i = 0; i < samples; ++i) data.y(i, 0) /= 1e300;
  for (Index i = 0; i < samples; ++i) data.x(i, 0) = 1e200;
  EXPECT_NE(message().find("scale the samples down"), std::string::npos);
}

/// The orders sum to the total; for balanced labels they are tr M, 0 and the remainder.
TEST(Hoeffding, OrdersAddUpToTheForm) {
  Matrix<double> m(5, 5);
  Random(2).normals(0, 25, 1.0, m.data());
  const std::vector<double> y{1, -1, -1, 1, 1};
  double form = 0;
  double trace = 0;
  for (Index i = 0; i < 5; ++i) {
    trace += m(i, i);
    for (Index j = 0; j < 5; ++j) form += y[usize(i)] * m(i, j) * y[usize(j)];
  }
  for (const std::vector<double>& means : {std::vector<double>(5, 0.0), {0.3, -1, 0.2, 1, -0.9}}) {
    const auto orders = hoeffding_orders(m.view(), y, means);
    EXPECT_NEAR(orders[0] + orders[1] + orders[2], form, 1e-13);
  }
  const auto balanced = hoeffding_orders(m.view(), y, std::vector<double>(5, 0.0));
  EXPECT_NEAR(balanced[0], trace, 1e-14);
  EXPECT_EQ(balanced[1], 0);
  EXPECT_THROW((void)hoeffding_orders(m.view(), std::vector<double>(5, 0.5), y), Error);
}

}  // namespace
}  // namespace widelimit
