#include "widelimit/machine/model.hpp"

#include "../data/fixture.hpp"
#include "noisy_samples.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/machine/model_file.hpp"

#include <nlohmann/json.hpp>

#include <limits>

namespace widelimit {
namespace {

/// A model of `n` samples with `outputs` outputs in which every third coefficient is 0.
Model small_model(Index n = 7, Index outputs = 3, const Shape& shape = {1, 1, 5}) {
  Dataset train = noisy_samples(n, shape, 1);
  Model model;
  model.kernel = Network::parse("dense relu dense");
  model.scaling.emplace(Scaling::standard, train);
  model.scaling->apply(train);
  Fit fit;
  fit.alpha = Matrix<double>(n, outputs);
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < outputs; ++c) {
      fit.alpha(i, c) = i % 3 == 2 ? 0 : 0.1 * static_cast<double>(i + 1) - static_cast<double>(c);
    }
  }
  for (Index c = 0; c < outputs; ++c) fit.bias.push_back(0.25 * static_cast<double>(c));
  set_support(model, fit, train.view());
  model.machine = Machine::svm;
  model.scheme = Scheme::one_vs_rest;
  for (Index c = 0; c < outputs; ++c) model.classes.push_back("class " + std::to_string(c));
  model.lambda = 0.1;
  model.has_bias = true;
  for (Index c = 0; c < outputs; ++c) model.calibration.push_back({-1.5, 0.1 * static_cast<double>(c)});
  model.record = R"({"train": "digits"})";
  model.version = "0.1.0";
  return model;
}

template <typename T>
bool same(const Matrix<T>& a, const Matrix<T>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && std::equal(a.data(), a.data() + a.rows() * a.cols(), b.data());
}

void expect_same(const Model& a, const Model& b) {
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.shape, b.shape);
  ASSERT_EQ(a.scaling.has_value(), b.scaling.has_value());
  if (a.scaling) {
    EXPECT_EQ(a.scaling->scaling(), b.scaling->scaling());
    EXPECT_EQ(a.scaling->shift(), b.scaling->shift());
    EXPECT_EQ(a.scaling->scale(), b.scaling->scale());
  }
  EXPECT_EQ(a.machine, b.machine);
  EXPECT_EQ(a.scheme, b.scheme);
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.lambda, b.lambda);
  EXPECT_EQ(a.epsilon, b.epsilon);
  EXPECT_EQ(a.has_bias, b.has_bias);
  EXPECT_EQ(a.bias, b.bias);
  EXPECT_EQ(a.calibration, b.calibration);
  EXPECT_EQ(a.record, b.record);
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.origin, b.origin);
  EXPECT_TRUE(same(a.alpha, b.alpha));
  ASSERT_EQ(a.support.index(), b.support.index());
  if (const auto* floats = std::get_if<Matrix<float>>(&a.support)) {
    EXPECT_TRUE(same(*floats, std::get<Matrix<float>>(b.support)));
  } else {
    EXPECT_TRUE(same(std::get<Matrix<double>>(a.support), std::get<Matrix<double>>(b.support)));
  }
}

class ModelFile : public Folder {
 protected:
  /// Returns the contents of a saved model.
  std::string saved(const Model& model) const {
    save_model(path("saved.h5"), model);
    const Blob bytes = read_file(path("saved.h5"));
    return std::string(as_text(bytes));
  }
};

TEST_F(ModelFile, ComesBackAsItWas) {
  const Model model = small_model();
  EXPECT_EQ(model.supports(), 5);  // of 7: every third coefficient is 0
  save_model(path("m.h5"), model);
  EXPECT_EQ(files(), 1u);
  expect_same(load_model(path("m.h5")), model);
  const Blob bytes = read_file(path("m.h5"));
  expect_same(parse_model(bytes, "bytes"), model);
}

TEST_F(ModelFile, RemembersItsColumnsAndItsSplit) {
  Model model = small_model();
  model.origin.layout = {.columns = {{"a", 0, {}, 0.1}, {"b", 3, {"jå", "no", "x", "y"}, 2}},
                         .label = "class",
                         .label_place = 1,
                         .cells = 4,
                         .missing = Missing::mean};
  model.origin.samples = 37;
  model.origin.checksum = 0xFEDCBA9876543210U;
  model.origin.split = Split{0.7, SplitOrder::stratified, 5};
  save_model(path("m.h5"), model);
  expect_same(load_model(path("m.h5")), model);
  model.origin.layout.columns.pop_back();
  expect_error(Code::input, {"columns", "1 features", "samples have 5"}, [&] { save_model(path("m.h5"), model); });
}

TEST_F(ModelFile, ComesBackInItsOtherForms) {
  Model model = small_model(4, 1);
  model.scheme = Scheme::sign;
  model.classes = {"no", "jå"};
  model.calibration.clear();
  model.scaling.reset();
  model.kernel = ClassicalKernel::parse("rbf(gamma=0.5)");
  model.precision = Precision::f32;
  model.lambda = 1e-12;
  Matrix<float> support(model.supports(), 5);
  support(1, 2) = 0.1F;
  model.support = std::move(support);
  save_model(path("m.h5"), model);
  expect_same(load_model(path("m.h5")), model);

  Model empty = small_model(3, 3);  // empty support
  empty.alpha = Matrix<double>(0, 3);
  empty.support = Matrix<double>(0, 5);
  empty.kind = Kind::nngp;
  save_model(path("e.h5"), empty);
  expect_same(load_model(path("e.h5")), empty);
}

TEST_F(ModelFile, CutShortIsRefused) {
  const std::string bytes = saved(small_model());
  const std::size_t step = std::max<std::size_t>(1, bytes.size() / 60);
  for (std::size_t length = 0; length < bytes.size(); length += step) {
    const std::string part = bytes.substr(0, length);
    expect_error(Code::input, {}, [&] { (void)parse_model(as_bytes(part), "cut"); });
  }
  const auto cut = put("cut.h5", std::string_view(bytes).substr(0, bytes.size() - 8));
  expect_error(Code::input, {"cut.h5"}, [&] { (void)load_model(cut); });
}

// A flipped bit is detected unless it is in unused bytes.
TEST_F(ModelFile, WithAFlippedBitIsRefusedOrWhole) {
  const Model model = small_model(7, 3, {1, 1, 20});
  const std::string bytes = saved(model);
  std::size_t refused = 0;
  std::size_t tried = 0;
  const std::size_t step = std::max<std::size_t>(1, bytes.size() / (WIDELIMIT_SANITIZED != 0 ? 100 : 400));
  for (std::size_t at = 0; at < bytes.size(); at += step, ++tried) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    try {
      expect_same(parse_model(as_bytes(damaged), "damaged"), model);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::input);
      ++refused;
    }
  }
  EXPECT_GT(refused, tried / 10);
}

TEST_F(ModelFile, EveryNumberCounts) {
  const Model model = small_model();
  const std::string bytes = saved(model);
  const auto find = [&](double number) {
    return bytes.find(std::string(reinterpret_cast<const char*>(&number), sizeof(number)));
  };
  for (const double number : {std::get<Matrix<double>>(model.support)(2, 1), model.alpha(3, 1), model.bias[1],
                              model.scaling->shift()[2], model.scaling->scale()[3], model.calibration[1].offset}) {
    const std::size_t at = find(number);
    ASSERT_NE(at, std::string::npos);
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    expect_error(Code::input, {"checksum"}, [&] { (void)parse_model(as_bytes(damaged), "damaged"); });
  }
}

/// Rewrites a file with other settings or without one of its arrays.
class Changed {
 public:
  explicit Changed(const std::filesystem::path& path)
      : file_(read_hdf5_arrays(path)), settings(nlohmann::ordered_json::parse(file_.settings)) {}
  void write(const std::filesystem::path& to, const std::string& without = "") const {
    std::vector<NamedArray> arrays;
    for (const auto& entry : file_.arrays) {
      if (entry.first == without) continue;
      std::visit([&](const auto& m) { arrays.push_back({entry.first, m.view(), {}}); }, entry.second.values);
    }
    write_hdf5(to, arrays, settings.dump());
  }

 private:
  ArrayFile file_;

 public:
  nlohmann::ordered_json settings;
};

TEST_F(ModelFile, OfALaterFormatSaysSo) {
  save_model(path("m.h5"), small_model());
  Changed later(path("m.h5"));
  later.settings["format_number"] = model_format + 1;
  later.write(path("later.h5"));
  expect_error(Code::input, {"later.h5", "format " + std::to_string(model_format), "upgrade"},
               [&] { (void)load_model(path("later.h5")); });
  for (const auto& number : {nlohmann::ordered_json(0), nlohmann::ordered_json("1"), nlohmann::ordered_json()}) {
    later.settings["format_number"] = number;
    later.write(path("odd.h5"));
    expect_error(Code::input, {"odd.h5"}, [&] { (void)load_model(path("odd.h5")); });
  }
}

TEST_F(ModelFile, WithoutAPartIsRefused) {
  save_model(path("m.h5"), small_model());
  const Changed whole(path("m.h5"));
  for (const char* name : {"support", "alpha", "bias", "shift", "scale", "calibration"}) {
    whole.write(path("less.h5"), name);
    expect_error(Code::input, {name, "missing"}, [&] { (void)load_model(path("less.h5")); });
  }
  for (const char* key : {"format", "format_number", "checksum", "model"}) {
    Changed less(path("m.h5"));
    less.settings.erase(key);
    less.write(path("less.h5"));
    expect_error(Code::input, {"less.h5"}, [&] { (void)load_model(path("less.h5")); });
  }
  Changed deep(path("m.h5"));
  nlohmann::ordered_json nest;
  for (int level = 0; level < 2000; ++level) nest = nlohmann::ordered_json::array({nest});
  deep.settings["model"]["record"] = nest;
  deep.write(path("deep.h5"));
  expect_error(Code::input, {"deep.h5"}, [&] { (void)load_model(path("deep.h5")); });
  expect_error(Code::input, {"absent.h5"}, [&] { (void)load_model(path("absent.h5")); });
  expect_error(Code::input, {"empty.h5"}, [&] { (void)load_model(put("empty.h5", "")); });
  write_hdf5(path("other.h5"), {}, "{}");
  expect_error(Code::input, {"not a model"}, [&] { (void)load_model(path("other.h5")); });
}

TEST_F(ModelFile, ThatCannotBeIsNotSaved) {
  const auto refused = [&](auto change) {
    Model model = small_model();
    change(model);
    expect_error(Code::input, {}, [&] { save_model(path("bad.h5"), model); });
    EXPECT_EQ(files(), 0u);
  };
  refused([](Model& m) { m.alpha = Matrix<double>(4, 3); });
  refused([](Model& m) { m.alpha(0, 0) = std::numeric_limits<double>::quiet_NaN(); });
  refused([](Model& m) { m.bias.pop_back(); });
  refused([](Model& m) { m.bias[0] = std::numeric_limits<double>::infinity(); });
  refused([](Model& m) { m.calibration.pop_back(); });
  refused([](Model& m) { m.shape = {1, 1, 6}; });
  refused([](Model& m) { m.shape = {Index{1} << 40, Index{1} << 40, 1}; });
  refused([](Model& m) { m.shape = {0, 1, 5}; });
  refused([](Model& m) { m.lambda = -1; });
  refused([](Model& m) { m.kind = Kind::both; });
  refused([](Model& m) { m.kernel = Network{}; });
  refused([](Model& m) { m.scheme = Scheme::values; });
  refused([](Model& m) { m.scheme = Scheme::sign; });
  refused([](Model& m) {
    m.scheme = Scheme::one_vs_one;
    m.classes.emplace_back("another");
  });
  refused([](Model& m) { m.classes.emplace_back("one more"); });
  refused([](Model& m) { std::get<Matrix<double>>(m.support)(0, 0) = std::numeric_limits<double>::infinity(); });
}

TEST(Predict, IsTheKernelTimesTheCoefficients) {
  const auto engine = make_engine("cpu");
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    Model model = small_model();
    model.precision = precision;
    for (const Index tests : {0, 1, 37}) {
      const Dataset test = noisy_samples(tests, model.shape, 9);
      Dataset scaled = noisy_samples(tests, model.shape, 9);
      model.scaling->apply(scaled);
      // One strip, and strips of one sample.
      const Matrix<double> g = predict_decisions(model, test.view(), *engine);
      const Matrix<double> thin = predict_decisions(model, test.view(), *engine, {.memory = 1});
      ASSERT_EQ(g.rows(), tests);
      ASSERT_EQ(g.cols(), 3);
      if (tests == 0) continue;
      const Gram k = gram(std::get<Network>(model.kernel), scaled.view(), model.support_view(),
                          {.kind = Kind::ntk, .precision = Precision::f64}, *make_engine("reference"));
      const double tolerance = precision == Precision::f32 ? 1e-4 : 1e-11;
      for (Index i = 0; i < tests; ++i) {
        for (Index c = 0; c < 3; ++c) {
          double sum = model.bias[static_cast<std::size_t>(c)];
          for (Index s = 0; s < model.supports(); ++s) {
            sum += std::get<Matrix<double>>(k.ntk)(i, s) * model.alpha(s, c);
          }
          EXPECT_NEAR(g(i, c), sum, tolerance);
          EXPECT_NEAR(thin(i, c), sum, tolerance);
        }
      }
    }
  }
}

TEST(Predict, TakesOtherKernelsAndNoSupport) {
  const auto engine = make_engine("cpu");
  Model model = small_model();
  const Dataset test = noisy_samples(3, model.shape, 4);
  model.kernel = ClassicalKernel::parse("linear");
  model.scaling.reset();
  const Matrix<double> g = predict_decisions(model, test.view(), *engine);
  double sum = model.bias[1];
  for (Index s = 0; s < model.supports(); ++s) {
    for (Index j = 0; j < 5; ++j) {
      sum += model.alpha(s, 1) * value(test, 2, j) * std::get<Matrix<double>>(model.support)(s, j);
    }
  }
  EXPECT_NEAR(g(2, 1), sum, 1e-13);
  model.alpha = Matrix<double>(0, 3);
  model.support = Matrix<double>(0, 5);
  const Matrix<double> flat = predict_decisions(model, test.view(), *engine);
  for (Index i = 0; i < 3; ++i) EXPECT_EQ(flat(i, 2), model.bias[2]);
}

TEST(Predict, RefusesOtherFeatures) {
  const auto engine = make_engine("cpu");
  const Model model = small_model();
  expect_error(Code::input, {"shape 5", "shape 6"}, [&] {
    (void)predict_decisions(model, noisy_samples(2, {1, 1, 6}, 1).view(), *engine);
  });
  // A non-spatial network treats an image as a vector; a spatial one does not.
  Model spatial = small_model(4, 3, {2, 3, 1});
  EXPECT_EQ(predict_decisions(spatial, noisy_samples(2, {1, 1, 6}, 1).view(), *engine).rows(), 2);
  spatial.kernel = Network::parse("conv relu flatten dense");
  expect_error(Code::input, {"2x3x1"}, [&] {
    (void)predict_decisions(spatial, noisy_samples(2, {3, 2, 1}, 1).view(), *engine);
  });
  Dataset broken = noisy_samples(2, model.shape, 1);
  std::get<Matrix<double>>(broken.values)(1, 1) = std::numeric_limits<double>::quiet_NaN();
  expect_error(Code::input, {}, [&] { (void)predict_decisions(model, broken.view(), *engine); });
}

class Stopping : public Progress {
 public:
  bool update(std::int64_t, std::int64_t, std::string_view) override { return ++calls < 2; }
  int calls = 0;
};

TEST(Predict, CanBeStopped) {
  const auto engine = make_engine("cpu");
  const Model model = small_model();
  Stopping stop;
  expect_error(Code::interrupted, {}, [&] {
    (void)predict_decisions(model, noisy_samples(20, model.shape, 1).view(), *engine, {.memory = 1, .progress = &stop});
  });
}

}  // namespace
}  // namespace widelimit
