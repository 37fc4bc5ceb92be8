#include "experiments/label_aware/la_rows.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/report/fit_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

LaRow regression_row(const Setting& setting, const LaImages& images, const AnyView& theta, const AnyView& theta_test,
                     const LaMethod& method, double ratio) {
  stop_if_requested(setting.progress);
  LaRow row{.method = &method};
  const Algebra& algebra = setting.engine.algebra();
  EngineMatrix k = algebra.copy_of(algebra.hold(theta), setting.precision);
  EngineMatrix k_test = algebra.copy_of(algebra.hold(theta_test), setting.precision);
  if (method.method) {
    const auto begin = Clock::now();
    const LabelAwareOptions options{.method = *method.method, .ratio = ratio, .seed = setting.seed};
    row.lambda = make_label_aware(k, &k_test, {.train = images.train.view(), .test = images.test.view()},
                                  images.train.labels, images.classes(), options, setting.engine, setting.progress)
                     .aware.lambda;
    row.estimate = seconds_since(begin);
  }
  const Matrix<double> targets = class_targets(images.train.labels, images.classes());
  const Scheme scheme = images.classes() == 2 ? Scheme::sign : Scheme::one_hot;
  // A label-aware kernel can be indefinite; the published program solves with it nevertheless.
  const RidgeOptions options{
      .bias = method.bias, .indefinite = method.method.has_value(), .progress = setting.progress};
  const Fit fit = fit_regression(GramMatrix(std::move(k), setting.engine), targets.view(), options);
  const Matrix<double> g = decision(fit, k_test, setting.engine);
  row.predictions = image_predictions(fit, scheme, images.classes(), g.view(), images.test.labels);
  return row;
}

}  // namespace

std::span<const LaMethod> la_methods() {
  static const std::vector<LaMethod> methods{{"CNTK", std::nullopt, true},
                                             {"KR-V1", LabelAwareMethod::kr1, true},
                                             {"KR-V2", LabelAwareMethod::kr2, true},
                                             {"FJLT-V1", LabelAwareMethod::fjlt1, true},
                                             {"FJLT-V2", LabelAwareMethod::fjlt2, true},
                                             {"linear1", LabelAwareMethod::linear1},
                                             {"linear2", LabelAwareMethod::linear2},
                                             {.name = "CNTK+bias", .bias = true},
                                             {"KR-V1+bias", LabelAwareMethod::kr1, false, true},
                                             {"linear1+bias", LabelAwareMethod::linear1, false, true}};
  return methods;
}

TaskKernel la_kernel(const Setting& setting, const LaImages& images, const std::string& name,
                     const std::optional<std::filesystem::path>& grams) {
  return task_kernel(setting, Network::parse("lantk_cnn8"), images.train.view(), images.test.view(),
                     gram_file(grams, name, images.train.count(), images.test.count(), setting.precision));
}

LaMethods requested_methods(const Setting& setting) {
  const std::string& requested = setting.text("methods");
  const std::vector<std::string> names = requested == "none" ? std::vector<std::string>{} : setting.words("methods");
  std::vector<std::string> known;
  LaMethods methods;
  for (const LaMethod& method : la_methods()) {
    known.push_back(method.name);
    if (requested == "all" || std::ranges::find(names, method.name) != names.end()) methods.push_back(&method);
  }
  for (const std::string& name : names) {
    if (requested != "all" && std::ranges::find(known, name) == known.end()) {
      fail(Code::usage, "--methods {}: unknown kernel '{}'; choose all, none, or some of {}", requested, name,
           fmt::join(known, ","));
    }
  }
  return methods;
}

Option methods_option() { return {"methods", "M,…", "Kernels by their names in the table, all or none", "all", ""}; }

std::vector<LaRow> la_rows(const Setting& setting, const LaImages& images, const LaMethods& methods, const AnyView& k,
                           const AnyView& k_test, double ratio) {
  std::vector<LaRow> rows;
  for (const LaMethod* method : methods) {
    rows.push_back(regression_row(setting, images, k, k_test, *method, ratio));
  }
  return rows;
}

std::string percent_text(const ImagePredictions& predictions) {
  return predictions.solved() ? fmt::format("{:.2f}", 100 * predictions.score.accuracy())
                              : text(predictions.summary.ending);
}

Json row_json(const LaRow& row) {
  Json json{{"kernel", row.method->name}};
  if (row.method->method) {
    json["method"] = to_string(*row.method->method);
    json["lambda"] = row.lambda;
    json["estimate_seconds"] = row.estimate;
  }
  json["bias"] = row.method->bias;
  add_predictions(json, row.predictions);
  return json;
}

std::string trouble_of(const std::vector<LaRow>& rows, const std::string& task) {
  const auto failed =
      std::find_if(rows.begin(), rows.end(), [](const LaRow& row) { return !row.predictions.solved(); });
  if (failed == rows.end()) return "";
  return fmt::format("{}, {}: {}: {}", task, failed->method->name, text(failed->predictions.summary.ending),
                     failed->predictions.summary.message);
}

}  // namespace widelimit::experiment
