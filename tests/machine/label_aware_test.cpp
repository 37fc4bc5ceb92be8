#include "widelimit/kernel/label_aware/label_aware.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/kernel/label_aware/label_aware_text.hpp"
#include "widelimit/machine/fit_data.hpp"
#include "widelimit/machine/model.hpp"
#include "widelimit/machine/model_file.hpp"
#include "widelimit/machine/tune.hpp"
#include "widelimit/report/file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace widelimit {
namespace {

/// Two overlapping clusters, or three.
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

/// A model consists of the kernel of the network, Z and the support: its predictions equal those of the fit for every
/// spectrum repair, before and after a round trip through a file.
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
  // The angle of a sample with itself is accurate to √ε only.
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

/// Ridge and regression need a nonsingular matrix, not a definite one: (K^HR + λ/2)α = y to rounding, with a remark.
TEST(LabelAwareMachine, RidgeSolvesWithAnIndefiniteKernelAndSaysSo) {
  const TrainTest data{.train = blobs(80, 2, 1), .test = std::nullopt};
  // With λ/2 = 50 the matrix is positive definite although the kernel is indefinite: the gap would be invalid.
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

/// A Gram matrix of the caller instead of samples; of those, kernel regression needs the kernel only.
TEST(LabelAwareMachine, PrecomputedKernelsTakeKernelRegression) {
  const TrainTest data{.train = blobs(80, 2, 1), .test = std::nullopt};
  for (const auto& [machine, psd] : {std::pair(Machine::svm, Psd::clip), std::pair(Machine::regression, Psd::none)}) {
    const FitDataOptions options = options_of(machine, LabelAwareMethod::kr1, psd);
    const FittedData expected = fit_data(request(), data, options, all_processors());
    DataKernels kernels = data_kernels(request(), data, all_processors());
    const FittedData fitted =
        fit_kernel(kernels.train, {.labels = data.train.labels, .classes = 2}, options, all_processors());
    EXPECT_EQ(fitted.label_aware->aware.lambda, expected.label_aware->aware.lambda);
    EXPECT_EQ(apart(fitted.train, expected.train), 0);
  }
  DataKernels kernels = data_kernels(request(), data, all_processors());
  try {
    (void)fit_kernel(kernels.train, {.labels = data.train.labels, .classes = 2},
                     options_of(Machine::svm, LabelAwareMethod::linear1, Psd::clip), all_processors());
    ADD_FAILURE();
  } catch (const Error& error_found) {
    EXPECT_NE(std::string(error_found.what()).find("choose kr1 or kr2"), std::string::npos) << error_found.what();
  }
}

/// Σ min(x, x') and Σ max(x, x')².
PairFunctions two_features() {
  return {{"overlap", "f2"}, [](const SampleView& left, const SampleView& right, MatrixView<double> out) {
            const auto a = std::get<MatrixView<const double>>(left.values);
            const auto b = std::get<MatrixView<const double>>(right.values);
            for (Index at = 0; at < out.cols; ++at) {
              const double* x = a.row(at / b.rows);
              const double* y = b.row(at % b.rows);
              out(0, at) = out(1, at) = 0;
              for (Index k = 0; k < a.cols; ++k) {
                out(0, at) += std::min(x[k], y[k]);
                out(1, at) += std::max(x[k], y[k]) * std::max(x[k], y[k]);
              }
            }
          }};
}

/// With user-defined features, a fit equals that of a machine on the matrix of make_label_aware. Its model stores their
/// names and, with the same functions, predicts the same bits after a round trip through a file.
TEST(LabelAwareMachine, ModelsRememberTheNamesOfPairFeaturesOfTheCaller) {
  const TrainTest data{.train = blobs(150, 2, 1), .test = blobs(40, 2, 2)};
  const PairFunctions own = two_features();
  FitDataOptions options = options_of(Machine::ridge, LabelAwareMethod::linear1, Psd::clip);
  const FittedData without = fit_data(request(), data, options, all_processors());
  options.pair_features = &own;
  FittedData fitted = fit_data(request(), data, options, all_processors());
  EXPECT_GT(apart(*without.test, *fitted.test), 1e-4);

  DataKernels kernels = data_kernels(request(), data, all_processors());
  const LabelAwareKernels made =
      make_label_aware(kernels.train, &*kernels.test, {data.train.view(), data.test->view(), &own}, data.train.labels,
                       2, *options.label_aware, all_processors());
  const FittedMachine machine =
      train_classes(std::get<Matrix<double>>(kernels.train), data.train.labels, 2, options.machine);
  EXPECT_LT(apart(decision(machine.fit, view_of(*kernels.test)), *fitted.test), 1e-12);

  Model model = fitted_model(request().kernel, data.train, fitted.machine, options.machine.lambda);
  model.label_aware = std::move(fitted.label_aware->aware);
  const Matrix<double> test = predict_decisions(model, data.test->view(), all_processors(), {.pair_features = &own});
  EXPECT_LT(apart(test, *fitted.test), 1e-9);
  const TemporaryFolder folder;
  save_model(folder.path() / "model.h5", model);
  const Model again = load_model(folder.path() / "model.h5");
  EXPECT_EQ(apart(predict_decisions(again, data.test->view(), all_processors(), {.pair_features = &own}), test), 0);

  LabelAwareText text = label_aware_text(*again.label_aware);
  text.json["own"] = 1;
  EXPECT_THROW((void)parse_label_aware(text.json, text.directions), Error);

  const auto message = [&](const PairFunctions* given) -> std::string {
    try {
      (void)predict_decisions(again, data.test->view(), all_processors(), {.pair_features = given});
    } catch (const Error& error) {
      return error.code() == Code::usage ? error.what() : "";
    }
    return "";
  };
  EXPECT_NE(message(nullptr).find("2 user-supplied pair features ('overlap', 'f2'); pass the same functions"),
            std::string::npos)
      << message(nullptr);
  PairFunctions other = two_features();
  other.names = {"f2", "overlap"};
  EXPECT_NE(message(&other).find("got 'f2', 'overlap'"), std::string::npos) << message(&other);
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
  const PairFunctions own = two_features();
  const auto unread = [&](const FitDataOptions& options) {
    try {
      options.validate();
    } catch (const Error& error) {
      return error.code() == Code::usage && std::string(error.what()).find("pair features") != std::string::npos;
    }
    return false;
  };
  FitDataOptions with_own = options_of(Machine::ridge, LabelAwareMethod::kr1, Psd::clip);
  with_own.pair_features = &own;
  EXPECT_TRUE(unread(with_own));
  with_own.label_aware = std::nullopt;
  EXPECT_TRUE(unread(with_own));
  Dataset numbers = blobs(30, 2, 1);
  numbers.labels.clear();
  numbers.class_names.clear();
  numbers.targets.assign(30, 1.0);
  EXPECT_THROW((void)fit_data(request(), {.train = std::move(numbers), .test = std::nullopt},
                              options_of(Machine::ridge, LabelAwareMethod::kr1, Psd::clip), all_processors()),
               Error);
}

/// Returns the error of one fold that tests the second half of the samples.
std::vector<TunePoint> one_fold(const Dataset& data, const Matrix<double>& k, LabelAwareMethod method, Machine machine,
                                const PairFunctions* own = nullptr) {
  TuneOptions options{.machine = {.machine = machine}, .lambdas = {0.3}};
  options.label_aware = LabelAwareOptions{.method = method, .ratio = 0.5, .psd = Psd::clip};
  options.samples = data.view();
  options.pair_features = own;
  SplitRows fold;
  for (Index i = 0; i < data.count(); ++i) (i < data.count() / 2 ? fold.train : fold.test).push_back(i);
  options.given_folds = {fold};
  return tune_classes(k, data.labels, 2, options);
}

/// Labels of held-out samples have no effect on the fit: if all of them are flipped, each correct prediction becomes
/// wrong and vice versa.
TEST(LabelAwareTune, LabelsLeftOutAreNeverSeen) {
  Dataset data = blobs(120, 2, 3);
  const AnyMatrix gram =
      std::move(compute_kernel(request(), data.view(), std::nullopt, all_processors()).matrices[0].values);
  const auto& k = std::get<Matrix<double>>(gram);
  const PairFunctions own = two_features();
  const std::vector<std::pair<LabelAwareMethod, const PairFunctions*>> kernels{{LabelAwareMethod::linear2, nullptr},
                                                                               {LabelAwareMethod::linear1, &own},
                                                                               {LabelAwareMethod::kr1, nullptr},
                                                                               {LabelAwareMethod::kr2, nullptr}};
  for (const auto& [method, functions] : kernels) {
    for (const Machine machine : {Machine::ridge, Machine::svm}) {
      const double error = *one_fold(data, k, method, machine, functions).front().misclassified;
      EXPECT_LT(error, 0.3);
      for (Index i = 60; i < 120; ++i) data.labels[usize(i)] = 1 - data.labels[usize(i)];
      EXPECT_DOUBLE_EQ(*one_fold(data, k, method, machine, functions).front().misclassified, 1 - error);
      for (Index i = 60; i < 120; ++i) data.labels[usize(i)] = 1 - data.labels[usize(i)];
    }
  }
}

/// User-defined features are evaluated on the samples of the fold: its error equals that of a fit to them alone.
TEST(LabelAwareTune, AFoldIsAFitToItsSamples) {
  const Dataset data = blobs(120, 2, 5);
  const AnyMatrix gram =
      std::move(compute_kernel(request(), data.view(), std::nullopt, all_processors()).matrices[0].values);
  const PairFunctions own = two_features();
  FitDataOptions options = options_of(Machine::ridge, LabelAwareMethod::linear1, Psd::clip);
  options.pair_features = &own;
  SplitRows fold;
  for (Index i = 0; i < data.count(); ++i) (i % 3 == 0 ? fold.test : fold.train).push_back(i);
  TuneOptions tuned{.machine = options.machine, .lambdas = {0.5}};
  tuned.label_aware = options.label_aware;
  tuned.samples = data.view();
  tuned.pair_features = &own;
  tuned.given_folds = {fold};
  const TunePoint point = tune_classes(std::get<Matrix<double>>(gram), data.labels, 2, tuned).front();

  TrainTest parts{.train = blobs(0, 2, 5), .test = blobs(0, 2, 5)};
  for (const auto& [part, rows] : {std::pair(&parts.train, &fold.train), std::pair(&*parts.test, &fold.test)}) {
    part->values = gather(data.view(), *rows);
    for (const Index i : *rows) part->labels.push_back(data.labels[usize(i)]);
  }
  const FittedData fitted = fit_data(request(), parts, options, all_processors());
  double wrong = 0;
  for (Index i = 0; i < parts.test->count(); ++i) {
    wrong += ((*fitted.test)(i, 0) > 0) != (parts.test->labels[usize(i)] == 1) ? 1 : 0;
  }
  EXPECT_DOUBLE_EQ(*point.misclassified, wrong / static_cast<double>(parts.test->count()));
}

/// With random labels the error is at chance level, within five standard errors for 200 samples.
TEST(LabelAwareTune, RandomLabelsGiveChance) {
  Dataset data = blobs(200, 2, 4);
  const Random random(77);
  for (Index i = 0; i < 200; ++i) data.labels[usize(i)] = random.bits(static_cast<std::uint64_t>(i)) % 2 == 0 ? 0 : 1;
  const AnyMatrix gram =
      std::move(compute_kernel(request(), data.view(), std::nullopt, all_processors()).matrices[0].values);
  TuneOptions options{.machine = {.machine = Machine::ridge}, .lambdas = {0.01, 1}};
  options.label_aware = LabelAwareOptions{.method = LabelAwareMethod::linear2, .ratio = 2, .psd = Psd::clip};
  options.samples = data.view();
  const PairFunctions own = two_features();
  for (const PairFunctions* functions : {static_cast<const PairFunctions*>(nullptr), &own}) {
    options.pair_features = functions;
    for (const TunePoint& point : tune_classes(std::get<Matrix<double>>(gram), data.labels, 2, options)) {
      EXPECT_NEAR(*point.misclassified, 0.5, 5 * std::sqrt(0.25 / 200)) << point.lambda;
    }
  }
}

}  // namespace
}  // namespace widelimit
