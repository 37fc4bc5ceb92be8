#include "widelimit/kernel/label_aware/label_aware.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/machine/fit_data.hpp"
#include "widelimit/machine/model.hpp"
#include "widelimit/machine/model_file.hpp"
#include "widelimit/machine/tune.hpp"
#include "widelimit/report/file.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

/// Two blobs that overlap, or three.
Dataset blobs(Index n, Index classes, std::uint64_t seed) {
  const Random random(seed);
  constexpr Index d = 5;
  Dataset data;
  data.name = "blobs";
  data.shape = {1, 1, d};
  Matrix<double> x(n, d);
  for (Index i = 0; i < n; ++i) {
    data.labels.push_back(i % classes);
    for (Index k = 0; k < d; ++k) {
      x(i, k) = random.normal(static_cast<std::uint64_t>(i * d + k)) + (k == i % classes ? 1.5 : 0.0);
    }
  }
  data.values = std::move(x);
  for (Index c = 0; c < classes; ++c) data.class_names.push_back(std::string(1, static_cast<char>('a' + c)));
  return data;
}

KernelRequest request() { return {.kernel = Network::parse("dense relu dense"), .kind = Kind::ntk}; }

FitDataOptions options_of(Machine machine, LabelAwareMethod method, Psd psd) {
  FitDataOptions options{.machine = {.machine = machine, .lambda = 0.5}};
  options.label_aware = LabelAwareOptions{.method = method, .ratio = 0.3, .psd = psd};
  return options;
}

double apart(const Matrix<double>& a, const Matrix<double>& b) {
  double largest = 0;
  for (Index i = 0; i < a.rows() * a.cols(); ++i) largest = std::max(largest, std::abs(a.data()[i] - b.data()[i]));
  return largest;
}

class LabelAwareFit : public testing::TestWithParam<std::tuple<LabelAwareMethod, Psd, Index>> {};

/// A model is the kernel of the network, Z and the support: it says of the same samples what the fit said, whatever was
/// done to the spectrum, before and after a round trip through a file.
TEST_P(LabelAwareFit, ModelsRememberWhatTheyNeed) {
  const auto& [method, psd, classes] = GetParam();
  TrainTest data{.train = blobs(90, classes, 1), .test = blobs(40, classes, 2)};
  const FitDataOptions options = options_of(Machine::ridge, method, psd);
  FittedData fitted = fit_data(request(), data, options, all_processors());
  ASSERT_TRUE(fitted.machine.fit.summary.converged()) << fitted.machine.fit.summary.message;
  ASSERT_TRUE(fitted.label_aware);
  Model model = fitted_model(request().kernel, data.train, fitted.machine, options.machine.lambda);
  model.label_aware = std::move(fitted.label_aware->aware);
  const Matrix<double> test = predict_decisions(model, data.test->view(), all_processors());
  // Angles of a sample with itself are known to √ε there.
  EXPECT_LT(apart(test, *fitted.test), 1e-9);
  EXPECT_LT(apart(predict_decisions(model, data.train.view(), all_processors()), fitted.train), 1e-5);

  const TemporaryFolder folder;
  save_model(folder.path() / "model.h5", model);
  const Model again = load_model(folder.path() / "model.h5");
  EXPECT_EQ(apart(predict_decisions(again, data.test->view(), all_processors()), test), 0);
  try {
    (void)certify(again, data.test->view(), data.test->labels, {}, *make_engine("cpu"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("label-aware"), std::string::npos) << error.what();
  }
}
INSTANTIATE_TEST_SUITE_P(Kernels, LabelAwareFit,
                         testing::Values(std::tuple(LabelAwareMethod::linear2, Psd::clip, 2),
                                         std::tuple(LabelAwareMethod::linear1, Psd::shift, 3),
                                         std::tuple(LabelAwareMethod::kr1, Psd::clip, 3),
                                         std::tuple(LabelAwareMethod::kr2, Psd::shift, 2)));

TEST(LabelAwareMachine, IndefiniteKernelsAreToldAndCured) {
  const TrainTest data{.train = blobs(80, 2, 1), .test = std::nullopt};
  const FittedData plain =
      fit_data(request(), data, options_of(Machine::svm, LabelAwareMethod::linear1, Psd::none), all_processors());
  EXPECT_EQ(plain.machine.fit.summary.ending, Ending::not_positive_definite);
  EXPECT_NE(plain.machine.fit.summary.message.find("clipped or shifted"), std::string::npos);
  const FittedData clipped =
      fit_data(request(), data, options_of(Machine::svm, LabelAwareMethod::linear1, Psd::clip), all_processors());
  EXPECT_TRUE(clipped.machine.fit.summary.converged());
  EXPECT_GT(clipped.label_aware->repair.inertia.negative, 0);
  EXPECT_THROW((void)fit_data(request(), data, options_of(Machine::svm, LabelAwareMethod::linear1, Psd::refuse),
                              all_processors()),
               Error);
}

/// Ridge and regression need a regular matrix, no definite one: (K^HR + λ/2)α = y to rounding, with a remark.
TEST(LabelAwareMachine, RidgeSolvesWithAnIndefiniteKernelAndSaysSo) {
  const TrainTest data{.train = blobs(80, 2, 1), .test = std::nullopt};
  // With λ/2 = 50 added the kernel is positive definite, and indefinite all the same: the gap would say nothing.
  for (const auto& [machine, lambda] :
       {std::pair(Machine::ridge, 0.5), std::pair(Machine::ridge, 100.0), std::pair(Machine::regression, 1.0)}) {
    FitDataOptions options = options_of(machine, LabelAwareMethod::linear1, Psd::none);
    options.machine.lambda = lambda;
    const FittedData fitted = fit_data(request(), data, options, all_processors());
    const Summary& summary = fitted.machine.fit.summary;
    ASSERT_TRUE(summary.converged()) << summary.message;
    EXPECT_NE(summary.message.find("negative eigenvalues"), std::string::npos) << summary.message;
    EXPECT_FALSE(summary.gap);
    // The residual of a backward stable solution, refined once, is a few n ε ‖A‖‖α‖, here below n² ε κ.
    EXPECT_LT(*summary.gradient, 80 * 80 * 2.3e-16 * *summary.condition);
    const double half = machine == Machine::ridge ? options.machine.lambda / 2 : 0;
    for (Index i = 0; i < 80; ++i) {
      const double y = data.train.labels[usize(i)] == 1 ? 1 : -1;
      EXPECT_NEAR(fitted.train(i, 0) + half * fitted.machine.fit.alpha(i, 0), y, 1e-8);
    }
  }
}

/// Functions of a caller cannot be written to a file: the refusal says what to do instead.
TEST(LabelAwareMachine, AModelRefusesPairFeaturesOfTheCaller) {
  const TrainTest data{.train = blobs(30, 2, 1), .test = std::nullopt};
  const FitDataOptions options = options_of(Machine::ridge, LabelAwareMethod::linear1, Psd::clip);
  FittedData fitted = fit_data(request(), data, options, all_processors());
  Model model = fitted_model(request().kernel, data.train, fitted.machine, options.machine.lambda);
  model.label_aware = std::move(fitted.label_aware->aware);
  model.validate();
  auto& regression = std::get<PairRegression>(model.label_aware->estimate);
  regression.coefficients.push_back(1);
  regression.own = 1;
  try {
    model.validate();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("1 pair features of your own"), std::string::npos) << error.what();
  }
}

TEST(LabelAwareMachine, RefusesWhatItsKernelDoesNotAllow) {
  const TrainTest data{.train = blobs(30, 2, 1), .test = std::nullopt};
  const auto refused = [&](auto change) {
    FitDataOptions options = options_of(Machine::ridge, LabelAwareMethod::kr1, Psd::clip);
    change(options);
    try {
      (void)fit_data(request(), data, options, all_processors());
    } catch (const Error& error) {
      return error.code() == Code::usage && std::string(error.what()).find("label-aware") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused([](FitDataOptions& o) { o.posterior = true; }));
  EXPECT_TRUE(refused([](FitDataOptions& o) { o.solver = Solver::conjugate_gradients; }));
  EXPECT_TRUE(refused([](FitDataOptions& o) {
    o.machine.machine = Machine::svm;
    o.machine.probability = true;
  }));
  Dataset numbers = blobs(30, 2, 1);
  numbers.labels.clear();
  numbers.class_names.clear();
  numbers.targets.assign(30, 1.0);
  EXPECT_THROW((void)fit_data(request(), {.train = std::move(numbers), .test = std::nullopt},
                              options_of(Machine::ridge, LabelAwareMethod::kr1, Psd::clip), all_processors()),
               Error);
}

/// Error of one fold that tests the second half of the samples.
std::vector<TunePoint> one_fold(const Dataset& data, const Matrix<double>& k, LabelAwareMethod method,
                                Machine machine) {
  TuneOptions options{.machine = {.machine = machine}, .lambdas = {0.3}};
  options.label_aware = LabelAwareOptions{.method = method, .ratio = 0.5, .psd = Psd::clip};
  options.samples = data.view();
  SplitRows fold;
  for (Index i = 0; i < data.count(); ++i) (i < data.count() / 2 ? fold.train : fold.test).push_back(i);
  options.given_folds = {fold};
  return tune_classes(k, data.labels, 2, options);
}

/// Labels of samples that are left out change nothing: where all of them are turned round, each prediction that was
/// right is wrong, and each that was wrong is right.
TEST(LabelAwareTune, LabelsLeftOutAreNeverSeen) {
  Dataset data = blobs(120, 2, 3);
  const AnyMatrix gram =
      std::move(compute_kernel(request(), data.view(), std::nullopt, all_processors()).matrices[0].values);
  const auto& k = std::get<Matrix<double>>(gram);
  for (const LabelAwareMethod method : {LabelAwareMethod::linear2, LabelAwareMethod::kr1, LabelAwareMethod::kr2}) {
    for (const Machine machine : {Machine::ridge, Machine::svm}) {
      const double error = *one_fold(data, k, method, machine).front().misclassified;
      EXPECT_LT(error, 0.3);
      for (Index i = 60; i < 120; ++i) data.labels[usize(i)] = 1 - data.labels[usize(i)];
      EXPECT_DOUBLE_EQ(*one_fold(data, k, method, machine).front().misclassified, 1 - error);
      for (Index i = 60; i < 120; ++i) data.labels[usize(i)] = 1 - data.labels[usize(i)];
    }
  }
}

/// With labels drawn at random every machine is as good as chance: five standard errors of a share of 200.
TEST(LabelAwareTune, RandomLabelsGiveChance) {
  Dataset data = blobs(200, 2, 4);
  const Random random(77);
  for (Index i = 0; i < 200; ++i) data.labels[usize(i)] = random.bits(static_cast<std::uint64_t>(i)) % 2 == 0 ? 0 : 1;
  const AnyMatrix gram =
      std::move(compute_kernel(request(), data.view(), std::nullopt, all_processors()).matrices[0].values);
  TuneOptions options{.machine = {.machine = Machine::ridge}, .lambdas = {0.01, 1}};
  options.label_aware = LabelAwareOptions{.method = LabelAwareMethod::linear2, .ratio = 2, .psd = Psd::clip};
  options.samples = data.view();
  for (const TunePoint& point : tune_classes(std::get<Matrix<double>>(gram), data.labels, 2, options)) {
    EXPECT_NEAR(*point.misclassified, 0.5, 5 * std::sqrt(0.25 / 200)) << point.lambda;
  }
}

}  // namespace
}  // namespace widelimit
