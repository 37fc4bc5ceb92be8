#include "widelimit/certificate/network/network_certificate.hpp"

#include "drawn_network.hpp"
#include "tests/base/normal_rows.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/training/targets.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit {
namespace {

using test::drawn_network;
using test::DrawnOptions;
using test::predicted_classes;

constexpr Index certificate_trials = WIDELIMIT_SANITIZED != 0 ? 40 : 1000;

CertifyOptions interval_options(Norm norm = Norm::linf) {
  CertifyOptions options;
  options.norm = norm;
  options.method = CertificateMethod::interval;
  options.tolerance = 1e-6;
  return options;
}

/// A point in the ball of radius 0.999 r around row i; every second one on its boundary.
void move_inside(MatrixView<double> x, const Certificates& c, const CertifyOptions& options, std::uint64_t seed) {
  const Random random(seed, 9);
  for (Index i = 0; i < x.rows; ++i) {
    std::vector<double> move(usize(x.cols));
    double size = 0;
    for (Index k = 0; k < x.cols; ++k) {
      const auto draw = static_cast<std::uint64_t>(2 * (i * x.cols + k));
      const double u = 2 * random.uniform(draw) - 1;
      move[usize(k)] = options.norm == Norm::l2 ? random.normal(draw) : seed % 2 == 0 ? u : std::copysign(1.0, u);
      size += move[usize(k)] * move[usize(k)];
    }
    const double scale = 0.999 * c.radius[usize(i)] / (options.norm == Norm::l2 ? std::sqrt(size) : 1.0);
    for (Index k = 0; k < x.cols; ++k) {
      x(i, k) += scale * move[usize(k)];
      if (options.box) x(i, k) = std::clamp(x(i, k), options.box->low(0), options.box->high(0));
    }
  }
}

struct SoundCase {
  const char* text;
  Shape shape;
  Index outputs;
  bool centred;
  Precision precision;
};

class Sound : public ::testing::TestWithParam<std::tuple<SoundCase, Norm, bool>> {};

/// No point inside the radius has another class, neither random ones nor those found by descent, and the attack finds
/// no sample closer than the certified radius.
TEST_P(Sound, NoPointInsideChangesItsClass) {
  const auto& [which, norm, boxed] = GetParam();
  const TrainedNetwork net =
      drawn_network(which.text, which.shape,
                    {.width = 12, .outputs = which.outputs, .precision = which.precision, .centred = which.centred});
  constexpr Index count = 6;
  Matrix<double> rows = normal_rows(count, which.shape.size(), 4);
  for (Index i = 0; i < count * rows.cols(); ++i) rows.data()[i] = std::clamp(0.5 + 0.3 * rows.data()[i], 0.0, 1.0);
  const SampleView x(rows.view(), which.shape);
  const std::vector<Index> labels = predicted_classes(net, x);
  CertifyOptions options = interval_options(norm);
  if (boxed) options.box = Box{0, 1};
  options.attack = AttackOptions{.steps = 10, .restarts = 1};
  options.keep_attacked = true;
  const Certificates c = certify_network(net, x, labels, options);
  for (Index i = 0; i < count; ++i) {
    EXPECT_TRUE(c.correct[usize(i)]);
    EXPECT_GT(c.margin[usize(i)], 0);
    EXPECT_GT(c.radius[usize(i)], 0);
    EXPECT_GE(c.attack[usize(i)], c.radius[usize(i)]);
  }
  for (Index trial = 0; trial < certificate_trials / 20; ++trial) {
    Matrix<double> moved(count, rows.cols());
    std::copy_n(rows.data(), count * rows.cols(), moved.data());
    move_inside(moved.view(), c, options, static_cast<std::uint64_t>(trial));
    ASSERT_EQ(predicted_classes(net, SampleView(moved.view(), which.shape)), labels) << which.text;
  }
  // The samples found by the attack have another class and the reported distance.
  const std::vector<Index> attacked = predicted_classes(net, SampleView(c.attacked.view(), which.shape));
  for (Index i = 0; i < count; ++i) {
    if (std::isinf(c.attack[usize(i)])) continue;
    EXPECT_NE(attacked[usize(i)], labels[usize(i)]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    NetworkCertificate, Sound,
    ::testing::Combine(
        ::testing::Values(
            SoundCase{"eq2", {1, 1, 7}, 1, false, Precision::f32},
            SoundCase{"fc:3(w_std=1.4)", {1, 1, 7}, 4, false, Precision::f64},
            SoundCase{"dense(b_std=0.3) erf dense(b_std=0.2)", {1, 1, 7}, 3, true, Precision::f32},
            SoundCase{"eq2", {1, 1, 7}, 1, true, Precision::f64},
            SoundCase{"conv(b_std=0.2) relu avg_pool conv gelu flatten dense", {4, 4, 2}, 3, true, Precision::f64},
            SoundCase{"dense residual{ tanh dense } swish dense leaky_relu dense", {1, 1, 7}, 1, true, Precision::f64},
            SoundCase{"dense rbf dense abs scale(by=-1) dense", {1, 1, 7}, 2, true, Precision::f32},
            SoundCase{"conv relu max_pool flatten dense", {4, 4, 2}, 3, false, Precision::f64},
            SoundCase{
                "conv(padding=CIRCULAR, kernel=5) relu global_avg_pool dense", {3, 3, 1}, 2, false, Precision::f64},
            SoundCase{"dense residual{ relu dense } layer_norm dense", {1, 1, 7}, 2, false, Precision::f64},
            SoundCase{"relu dense", {1, 1, 7}, 2, false, Precision::f64}),
        ::testing::Values(Norm::linf, Norm::l2), ::testing::Bool()));

/// For one layer the certificate is the distance to the nearest hyperplane in the dual norm.
TEST(NetworkCertificate, OfOneLayerIsTheDistanceToTheHyperplane) {
  const Shape shape{1, 1, 37};
  const Matrix<double> rows = normal_rows(5, 37, 8);
  for (const Index outputs : {1, 4}) {
    const TrainedNetwork net = drawn_network("dense(b_std=0.5)", shape, {.outputs = outputs});
    const auto& w = std::get<Parameters<double>>(net.parameters).slots[0].w;
    const double scale = net.architecture.slots[0].w_scale;
    const SampleView x(rows.view(), shape);
    const Matrix<double> f = predict_outputs(net, x);
    const std::vector<Index> labels = predicted_classes(net, x);
    const Certificates linf = certify_network(net, x, labels, interval_options());
    const Certificates l2 = certify_network(net, x, labels, interval_options(Norm::l2));
    for (Index i = 0; i < 5; ++i) {
      double nearest = std::numeric_limits<double>::infinity();
      double nearest2 = nearest;
      const Index c = outputs == 1 ? 0 : labels[usize(i)];
      for (Index k = 0; k < outputs; ++k) {
        if (outputs > 1 && k == c) continue;
        double one = 0;
        double two = 0;
        for (Index d = 0; d < 37; ++d) {
          const double v = w[usize(d * outputs + c)] - (outputs == 1 ? 0.0 : w[usize(d * outputs + k)]);
          one += std::abs(v);
          two += v * v;
        }
        const double margin = outputs == 1 ? std::abs(f(i, 0)) : f(i, c) - f(i, k);
        nearest = std::min(nearest, margin / (scale * one));
        nearest2 = std::min(nearest2, margin / (scale * std::sqrt(two)));
      }
      EXPECT_NEAR(linf.radius[usize(i)], nearest, 3e-6 * nearest);
      EXPECT_LE(l2.radius[usize(i)], nearest2);
      if (outputs > 1) continue;
      EXPECT_NEAR(l2.radius[usize(i)], nearest2, 3e-6 * nearest2);
    }
  }
}

/// For one layer the nearest other class is known, and descent finds it.
TEST(NetworkAttack, FindsTheHyperplaneOfOneLayer) {
  const Shape shape{1, 1, 37};
  const Matrix<double> rows = normal_rows(5, 37, 8);
  const SampleView x(rows.view(), shape);
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    const TrainedNetwork net = drawn_network("dense(b_std=0.5)", shape, {.precision = precision});
    const std::vector<Index> labels = predicted_classes(net, x);
    for (const Norm norm : {Norm::linf, Norm::l2}) {
      CertifyOptions options = interval_options(norm);
      options.attack = AttackOptions{};
      const Certificates c = certify_network(net, x, labels, options);
      for (Index i = 0; i < 5; ++i) EXPECT_LT(c.attack[usize(i)], 1.005 * c.radius[usize(i)]) << i;
    }
  }
}

/// relu(⟨w, x⟩) is never negative: beyond the hyperplane it is 0, which is classified as the first class. The second
/// class changes there, and the first is unchanged everywhere.
TEST(NetworkAttack, TakesAZeroForTheClassThatIsToldThen) {
  const Shape shape{1, 1, 6};
  const TrainedNetwork net = drawn_network("dense relu", shape, {.width = 1});
  const Matrix<double> rows = normal_rows(30, 6, 3);
  const SampleView x(rows.view(), shape);
  const std::vector<Index> labels = predicted_classes(net, x);
  ASSERT_GT(std::count(labels.begin(), labels.end(), 1), 5);
  CertifyOptions options = interval_options();
  options.attack = AttackOptions{};
  options.keep_attacked = true;
  const Certificates c = certify_network(net, x, labels, options);
  // 0 at the samples found. Products of a device can round differently for another number of points: by seven units of
  // ⟨|w|, |x|⟩, which a network of one channel and six inputs keeps below 20.
  const Matrix<double> attacked = predict_outputs(net, SampleView(c.attacked.view(), shape));
  for (Index i = 0; i < 30; ++i) {
    if (labels[usize(i)] == 0) continue;
    EXPECT_LT(c.attack[usize(i)], 1.01 * c.radius[usize(i)]) << i;
    EXPECT_LE(attacked(i, 0), all_processors().name() == "cpu" ? 0 : 20 * 7 * 0x1p-53) << i;
  }
}

/// Cancels an attack during the descent.
class StopsAttacks final : public Progress {
 public:
  bool update(std::int64_t /*done*/, std::int64_t /*total*/, std::string_view unit) override {
    return unit != "points attacked";
  }
};

TEST(NetworkAttack, StopsInTheMiddle) {
  const Shape shape{1, 1, 5};
  const TrainedNetwork net = drawn_network("eq2", shape);
  const Matrix<double> rows = normal_rows(3, 5, 2);
  const SampleView x(rows.view(), shape);
  StopsAttacks stop;
  CertifyOptions options = interval_options();
  options.attack = AttackOptions{.steps = 1'000'000'000};
  options.progress = &stop;
  try {
    static_cast<void>(certify_network(net, x, predicted_classes(net, x), options));
    FAIL() << "went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::interrupted);
  }
}

/// In two dimensions, a fine grid finds another class only beyond the radius, and the whole ball of the radius has one
/// sign.
TEST(NetworkCertificate, StandsBruteForceInTwoDimensions) {
  const Shape shape{1, 1, 2};
  const TrainedNetwork net = drawn_network("fc:2(w_std=1.5, b_std=0.4)", shape, {.width = 8, .seed = 3});
  const Matrix<double> rows = normal_rows(12, 2, 5);
  const SampleView x(rows.view(), shape);
  const std::vector<Index> labels = predicted_classes(net, x);
  for (const Norm norm : {Norm::linf, Norm::l2}) {
    const Certificates c = certify_network(net, x, labels, interval_options(norm));
    constexpr Index grid = 41;
    for (Index i = 0; i < 12; ++i) {
      Matrix<double> ball(grid * grid, 2);
      for (Index a = 0; a < grid; ++a) {
        for (Index b = 0; b < grid; ++b) {
          double u = 2.0 * static_cast<double>(a) / (grid - 1) - 1;
          double v = 2.0 * static_cast<double>(b) / (grid - 1) - 1;
          const double length = norm == Norm::l2 ? std::max(1.0, std::hypot(u, v)) : 1.0;
          ball(a * grid + b, 0) = rows(i, 0) + c.radius[usize(i)] * u / length;
          ball(a * grid + b, 1) = rows(i, 1) + c.radius[usize(i)] * v / length;
        }
      }
      const std::vector<Index> predicted = predicted_classes(net, SampleView(ball.view(), shape));
      EXPECT_TRUE(std::all_of(predicted.begin(), predicted.end(), [&](Index t) { return t == labels[usize(i)]; })) << i;
    }
  }
}

/// The decision at a given radius agrees with the largest one; ℓ2 balls are contained in ℓ∞ balls of the same radius; a
/// box can only increase the radius.
TEST(NetworkCertificate, IsMonotoneInRadiusNormAndBox) {
  const Shape shape{1, 1, 10};
  const TrainedNetwork net = drawn_network("fc:2", shape, {.width = 30});
  Matrix<double> rows(8, 10);
  const Random random(3);
  for (Index i = 0; i < 80; ++i) rows.data()[i] = random.uniform(static_cast<std::uint64_t>(i)) < 0.5 ? 0.0 : 1.0;
  const SampleView x(rows.view(), shape);
  const std::vector<Index> labels = predicted_classes(net, x);
  const Certificates largest = certify_network(net, x, labels, interval_options());
  const Certificates l2 = certify_network(net, x, labels, interval_options(Norm::l2));
  CertifyOptions boxed = interval_options();
  boxed.box = Box{0, 1};
  const Certificates inside = certify_network(net, x, labels, boxed);
  for (Index i = 0; i < 8; ++i) {
    const double radius = largest.radius[usize(i)];
    for (const double factor : {0.2, 0.9, 1.01, 3.0}) {
      CertifyOptions one = interval_options();
      one.radius = factor * radius;
      const Certificates test = certify_network(net, x, labels, one);
      EXPECT_EQ(test.radius[usize(i)], factor < 1 ? factor * radius : 0.0);
    }
    EXPECT_GE(l2.radius[usize(i)], radius);
    EXPECT_GT(inside.radius[usize(i)], radius);
  }
}

/// A misclassified sample has radius 0 and is counted separately.
TEST(NetworkCertificate, LeavesWrongPointsAtZero) {
  const Shape shape{1, 1, 5};
  for (const Index outputs : {1, 3}) {
    const TrainedNetwork net = drawn_network("eq2", shape, {.outputs = outputs});
    const Matrix<double> rows = normal_rows(4, 5, 2);
    const SampleView x(rows.view(), shape);
    std::vector<Index> labels = predicted_classes(net, x);
    labels[1] = (labels[1] + 1) % std::max<Index>(outputs, 2);
    CertifyOptions options = interval_options();
    options.attack = AttackOptions{.steps = 3, .restarts = 0};
    const Certificates c = certify_network(net, x, labels, options);
    EXPECT_FALSE(c.correct[1]);
    EXPECT_LE(c.margin[1], 0);
    EXPECT_EQ(c.radius[1], 0);
    EXPECT_EQ(c.attack[1], 0);
    EXPECT_TRUE(c.correct[0]);
    EXPECT_GT(c.radius[0], 0);
  }
}

/// The exponent of the width in the mean radius of trained networks, from 256 to 4,096 channels.
double power_of_the_width(bool centred) {
  const Matrix<double> rows = normal_rows(16, 20, 6);
  const SampleView x(rows.view(), Shape{1, 1, 20});
  Matrix<double> y(16, 1);
  std::vector<Index> labels(16);
  for (Index i = 0; i < 16; ++i) {
    labels[usize(i)] = rows(i, 0) > 0 ? 1 : 0;
    y(i, 0) = rows(i, 0) > 0 ? 1 : -1;
  }
  std::vector<double> means;
  for (const Index width : {256, 4096}) {
    TrainOptions options;
    options.width = width;
    options.loss.kind = LossKind::hinge;
    options.steps = 100;
    options.rate = 0.1;
    options.centred = centred;
    options.records = 2;
    const TrainedNetwork net = train(Network::parse("eq2"), {.x = x, .y = y.view()}, options);
    const Certificates c = certify_network(net, x, labels, interval_options());
    EXPECT_EQ(std::count(c.correct.begin(), c.correct.end(), true), 16);
    means.push_back(std::accumulate(c.radius.begin(), c.radius.end(), 0.0) / 16);
  }
  return std::log(means[1] / means[0]) / std::log(16.0);
}

/// EQ Table 2: the interval of the last layer sums m terms of size 1/√m while the margin is constant, so radii decrease
/// as 1/√m. A 16-fold width gives a quarter of the radius, up to the variation of random networks.
TEST(NetworkCertificate, FallsAsTheRootOfTheWidth) { EXPECT_NEAR(power_of_the_width(false), -0.5, 0.1); }

/// f − f₀: for weights close to initialisation the difference is small although both networks are not, and with two
/// layers the radius does not decrease with the width; it is never smaller than that of the difference of two
/// intervals.
TEST(NetworkCertificate, OfACentredNetworkDoesNotFallWithTheWidth) { EXPECT_NEAR(power_of_the_width(true), 0.0, 0.1); }

TEST(NetworkCertificate, RefusesWhatItCannotAnswer) {
  const Shape shape{1, 1, 5};
  const Matrix<double> rows = normal_rows(3, 5, 2);
  const SampleView x(rows.view(), shape);
  const std::vector<Index> labels{0, 1, 0};
  const auto code_of = [&](const TrainedNetwork& net, const SampleView& samples, std::span<const Index> classes,
                           const CertifyOptions& options) {
    try {
      (void)certify_network(net, samples, classes, options);
    } catch (const Error& error) {
      return static_cast<int>(error.code());
    }
    return 0;
  };
  const TrainedNetwork net = drawn_network("eq2", shape);
  EXPECT_EQ(code_of(net, x, labels, interval_options()), 0);
  const std::vector<Index> unknown{0, 2, 0};
  const std::vector<Index> few{0, 1};
  EXPECT_EQ(code_of(net, x, unknown, interval_options()), 3);
  EXPECT_EQ(code_of(net, x, few, interval_options()), 3);
  EXPECT_EQ(code_of(net, SampleView(rows.view().block(0, 0, 3, 4), {1, 1, 4}), labels, interval_options()), 3);
  CertifyOptions boxed = interval_options();
  boxed.box = Box{0, 0.01};
  EXPECT_EQ(code_of(net, x, labels, boxed), 3);
  TrainedNetwork linearised = drawn_network("eq2", shape);
  linearised.linearised = true;
  EXPECT_EQ(code_of(linearised, x, labels, interval_options()), 2);
  EXPECT_EQ(code_of(drawn_network("dense polynomial(coef=[0,1]) dense", shape), x, labels, interval_options()), 2);
  Matrix<double> broken = normal_rows(3, 5, 2);
  broken(1, 1) = std::nan("");
  EXPECT_EQ(code_of(net, SampleView(broken.view(), shape), labels, interval_options()), 3);
}

TEST(NetworkCertificate, TakesNoPointsAndConstantNetworks) {
  const Shape shape{1, 1, 5};
  const Matrix<double> none(0, 5);
  EXPECT_TRUE(certify_network(drawn_network("eq2", shape), SampleView(none.view(), shape), {}, interval_options())
                  .radius.empty());
  // A network that does not depend on its input keeps its class everywhere: the search ends at its upper limit.
  const TrainedNetwork constant = drawn_network("dense(w_std=0, b_std=1)", shape);
  const Matrix<double> rows = normal_rows(1, 5, 2);
  const SampleView x(rows.view(), shape);
  const Certificates c = certify_network(constant, x, predicted_classes(constant, x), interval_options());
  EXPECT_GT(c.radius[0], 1e5);
}

}  // namespace
}  // namespace widelimit
