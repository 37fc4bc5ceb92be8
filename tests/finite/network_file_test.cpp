#include "widelimit/finite/network_file.hpp"

#include "../data/fixture.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

Matrix<double> inputs() {
  Matrix<double> x(7, 12);
  Random(2).normals(0, 84, 1.0, x.data());
  return x;
}

SavedNetwork small_network(Precision precision, bool centred) {
  const Matrix<double> x = inputs();
  Matrix<double> y(7, 2);
  for (Index i = 0; i < 14; ++i) y.data()[i] = i % 3 == 0 ? 1.0 : -1.0;
  SavedNetwork saved;
  saved.trained = train(Network::parse("conv(b_std=0.1) relu flatten dense(b_std=0.2)"),
                        {SampleView(x.view(), {2, 3, 2}), y.view()},
                        {.width = 5,
                         .loss = {LossKind::hinge},
                         .regulariser = Regulariser::output,
                         .lambda = 0.1,
                         .rate = 0.05,
                         .steps = 5,
                         .centred = centred,
                         .seed = 99,
                         .precision = precision});
  saved.notes.scaling.emplace(Scaling::standard, std::vector<double>(12, 0.5), std::vector<double>(12, 2.0));
  saved.notes.classes = {"jå", "no"};
  saved.notes.record = "{}";
  return saved;
}

void expect_equal(const SavedNetwork& a, const SavedNetwork& b) {
  EXPECT_EQ(a.trained.network, b.trained.network);
  EXPECT_EQ(a.trained.seed, b.trained.seed);
  EXPECT_EQ(a.trained.centred, b.trained.centred);
  EXPECT_EQ(a.trained.precision(), b.trained.precision());
  EXPECT_EQ(a.notes.classes, b.notes.classes);
  EXPECT_EQ(a.notes.scaling.has_value(), b.notes.scaling.has_value());
  const Matrix<double> x = inputs();
  const SampleView samples(x.view(), {2, 3, 2});
  const Matrix<double> outputs = predict_outputs(a.trained, samples);
  const Matrix<double> again = predict_outputs(b.trained, samples);
  for (Index i = 0; i < 14; ++i) EXPECT_EQ(outputs.data()[i], again.data()[i]);
}

class NetworkFile : public Folder {};

TEST_F(NetworkFile, ComesBackAsItWas) {
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    for (const bool centred : {false, true}) {
      const SavedNetwork saved = small_network(precision, centred);
      save_network(path("n.h5"), saved.trained, saved.notes);
      expect_equal(load_network(path("n.h5")), saved);
      SavedNetwork plain = small_network(precision, centred);
      plain.notes.scaling.reset();
      plain.notes.classes.clear();
      save_network(path("n.h5"), plain.trained, plain.notes);
      expect_equal(load_network(path("n.h5")), plain);
    }
  }
}

TEST_F(NetworkFile, DamageIsRefused) {
  const SavedNetwork saved = small_network(Precision::f64, false);
  save_network(path("n.h5"), saved.trained, saved.notes);
  const Blob whole = read_file(path("n.h5"));
  const std::string bytes(as_text(whole));
  const std::size_t step = std::max<std::size_t>(1, bytes.size() / 150);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    EXPECT_THROW((void)parse_network_file(as_bytes(std::string_view(bytes).substr(0, at)), "cut"), Error);
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    try {
      expect_equal(parse_network_file(as_bytes(damaged), "damaged"), saved);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::input);
      ++refused;
    }
  }
  EXPECT_GT(refused, 15U);
}

TEST_F(NetworkFile, RefusesWeightsThatAreNoNumbers) {
  SavedNetwork saved = small_network(Precision::f32, false);
  std::get<Parameters<float>>(saved.trained.parameters).slots[1].w[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(save_network(path("n.h5"), saved.trained, saved.notes), Error);
  EXPECT_THROW((void)load_network(path("absent.h5")), Error);
}

}  // namespace
}  // namespace widelimit
