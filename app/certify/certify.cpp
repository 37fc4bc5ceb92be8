#include "app/certify/certified.hpp"
#include "app/certify/certify_page.hpp"
#include "app/fit/predictor.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/certificate/network/network_certificate.hpp"
#include "widelimit/report/csv.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit::app {

namespace {

using Json = nlohmann::ordered_json;

struct CertifyChoice {
  CommonOptions common;
  DataChoice data;
  std::string model;
  std::string norm{to_string(CertifyOptions{}.norm)};
  std::string method{to_string(CertifyOptions{}.method)};
  std::string units;
  std::vector<double> widths;
  std::vector<double> box;
  std::optional<double> radius;
  std::vector<double> at;
  double tolerance = CertifyOptions{}.tolerance;
  bool attack = false;
  AttackOptions attacking;
  std::optional<std::string> out;

  [[nodiscard]] CertifyOptions options() const {
    CertifyOptions how;
    how.norm = parse_norm(norm);
    how.method = parse_methods(method).back();
    if (!units.empty()) how.units = parse_certificate_units(units);
    how.widths = widths;
    if (!box.empty()) {
      if (box.size() != 2) fail(Code::usage, "--box: give the smallest and the largest value, e.g. 0,1");
      how.box = Box{box[0], box[1]};
    }
    how.radius = radius;
    how.tolerance = tolerance;
    if (attack) {
      how.attack = attacking;
      how.attack->seed = common.seed;
      how.keep_attacked = common.report.has_value();
    }
    how.validate();
    for (const double r : at) {
      if (!(r > 0) || !std::isfinite(r)) fail(Code::usage, "--at {}: radii must be positive", r);
    }
    return how;
  }
};

/// Returns labels as class numbers of the predictor; for a machine that fits numbers, the signs of the targets.
std::vector<Index> certified_labels(const Predictor& predictor, const Dataset& data) {
  if (!predictor.classes.empty()) {
    if (data.labels.empty()) fail(Code::input, "{} has no labels, which certificates need", data.name);
    return data.labels;
  }
  if (data.targets.empty()) fail(Code::input, "{} has no targets, whose signs certificates need", data.name);
  std::vector<Index> signs;
  for (std::size_t i = 0; i < data.targets.size(); ++i) {
    if (data.targets[i] == 0)
      fail(Code::input, "{}: target {} is 0; only its sign can be certified, so it must not be 0", data.name, i);
    signs.push_back(data.targets[i] > 0 ? 1 : 0);
  }
  return signs;
}

Json certify_settings(const CertifyChoice& choice, const CertifyOptions& how, const Predictor& predictor) {
  Json settings{{"model", choice.model},
                {"data", new_sample_settings(choice.data)},
                {"norm", choice.norm},
                {"method", predictor.network ? std::string(to_string(CertificateMethod::interval)) : choice.method}};
  if (!choice.units.empty()) settings["units"] = choice.units;
  if (!how.widths.empty()) settings["widths"] = how.widths;
  if (how.box) settings["box"] = choice.box;
  if (how.radius) settings["radius"] = *how.radius;
  settings["tolerance"] = how.tolerance;
  if (how.attack) settings["attack"] = {{"steps", how.attack->steps}, {"restarts", how.attack->restarts}};
  return settings;
}

/// Returns a row per sample.
Table sample_table(const Certified& certified, const std::vector<std::string>& names,
                   const std::vector<Index>& labels) {
  Table table{.columns = {"sample", "class", "correct", "margin"}};
  for (const CertificateMethod method : certified.methods) {
    table.columns.push_back(fmt::format("radius_{}", to_string(method)));
  }
  table.columns.emplace_back("by");
  if (certified.attacked()) table.columns.emplace_back("attack");
  const Certificates& best = certified.best();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::vector<Cell> row{static_cast<std::int64_t>(i)};
    row.emplace_back(names.empty() ? (labels[i] == 0 ? "negative" : "positive")
                                   : names[static_cast<std::size_t>(labels[i])]);
    row.emplace_back(static_cast<std::int64_t>(best.correct[i] ? 1 : 0));
    row.emplace_back(best.margin[i]);
    for (const Certificates& run : certified.runs) row.emplace_back(run.radius[i]);
    row.emplace_back(std::string(to_string(best.method[i])));
    if (certified.attacked()) row.push_back(std::isfinite(best.attack[i]) ? Cell(best.attack[i]) : Cell());
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Returns interval for trained networks, whatever --method is; "all" means the methods that the model supports.
std::vector<CertificateMethod> methods_of(const Predictor& predictor, const std::string& name,
                                          const CertifyOptions& how) {
  if (predictor.network) return {CertificateMethod::interval};
  return name == "all" ? certificate_methods(*predictor.model, how) : parse_methods(name);
}

/// Returns the largest ratio of the scales of two features; 1 if the scaling is not feature by feature.
double scale_ratio(const Predictor& predictor) {
  const std::optional<Scaler>& scaling = predictor.model ? predictor.model->scaling : predictor.network->notes.scaling;
  if (!scaling || scaling->scale().empty()) return 1;
  const auto smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
  const auto [least, most] = std::minmax_element(scaling->scale().begin(), scaling->scale().end(), smaller);
  return std::abs(*most / *least);
}

/// Returns what the radii do not tell.
std::vector<std::string> notes_on(const Predictor& predictor, const CertifyOptions& how) {
  constexpr double unlike = 100;
  std::vector<std::string> notes;
  if (predictor.classes.empty()) {
    notes.emplace_back("the model predicts numbers: 'correct' and the radii refer to their signs");
  }
  const bool in_units_of_samples = how.units.value_or(CertificateUnits::input) == CertificateUnits::input;
  if (const double ratio = scale_ratio(predictor); in_units_of_samples && how.widths.empty() && ratio > unlike) {
    notes.push_back(
        fmt::format("the scales of the features differ by a factor of {:.1g}, but a radius changes all "
                    "features by the same amount; --units scaled measures each by its own scale, and "
                    "--widths by its own width",
                    ratio));
  }
  return notes;
}

/// Returns the predicted classes of the attacked samples; empty if none are kept.
std::vector<Index> attacked_classes(const Predictor& predictor, const Certificates& best, const Shape& shape,
                                    const Engine& engine) {
  if (best.attacked.rows() == 0) return {};
  Dataset attacked = copy_samples(SampleView(best.attacked.view(), shape), "attacked samples");
  const Matrix<double> decisions = predict(predictor, attacked, engine, {}).decisions;
  if (predictor.scheme != Scheme::values) {
    return classes_of(predictor.scheme, std::ssize(predictor.classes), decisions.view());
  }
  std::vector<Index> signs;
  for (Index i = 0; i < decisions.rows(); ++i) signs.push_back(decisions(i, 0) > 0 ? 1 : 0);
  return signs;
}

/// Certifies a machine or a network by the method of the options.
Certificates certify_predictor(const Predictor& predictor, const Dataset& data, const std::vector<Index>& labels,
                               const CertifyOptions& how, const Engine& engine) {
  if (predictor.model) return certify(*predictor.model, data.view(), labels, how, engine);
  const std::optional<Scaler>& scaling = predictor.network->notes.scaling;
  return certify_network(predictor.network->trained, data.view(), labels, how, engine, scaling ? &*scaling : nullptr);
}

/// Returns the box if it is in the units of the pictures.
std::optional<Box> shown_box(const CertifyOptions& how, const Certificates& best) {
  return best.units == CertificateUnits::input ? how.box : std::nullopt;
}

void write_predictor_page(const CertifyChoice& choice, const Predictor& predictor, const Certified& certified,
                          const Table& table, const Dataset& data, const std::vector<Index>& labels,
                          const Engine& engine, const Json& settings) {
  const std::vector<Index> attacked_as = attacked_classes(predictor, certified.best(), data.shape, engine);
  write_certify_page(*choice.common.report,
                     {.title = fmt::format("Certificates of {} on {}", predictor.name(), data.name),
                      .certified = certified,
                      .table = table,
                      .data = data,
                      .names = predictor.classes,
                      .labels = labels,
                      .attacked_as = attacked_as,
                      .box = shown_box(choice.options(), certified.best())},
                     settings);
}

void run_certify(const CertifyChoice& choice) {
  CertifyOptions how = choice.options();
  choice.common.check_report(true);
  if (choice.out) check_table_path(*choice.out);
  const auto engine = choice.common.make_engine();
  require_certificates(*engine);  // before the model and the samples are read
  const Predictor predictor = load_predictor(choice.model, choice.common, *engine);
  const NewSamples samples = load_samples(choice.common, choice.data, predictor);
  const Dataset& data = samples.data;
  const std::vector<Index> labels = certified_labels(predictor, data);
  if (predictor.network && choice.method != CertifyChoice{}.method) {
    note(choice.common, "--method has no effect on a trained network; its certificates use interval bounds");
  }

  const std::vector<std::string> remarks = notes_on(predictor, how);
  for (const std::string& remark : remarks) note(choice.common, remark);

  ProgressBar bar(choice.common);
  how.progress = &bar;
  const auto start = Clock::now();
  const Certified certified = certify_with_methods(
      methods_of(predictor, choice.method, how), how,
      [&](const CertifyOptions& own) { return certify_predictor(predictor, data, labels, own, *engine); });
  const std::vector<double> at = choice.at.empty() ? round_radii(certified.best(), 3) : choice.at;
  const Table table = how.radius ? verdict_table(certified, *how.radius) : certified_table(certified, at);
  Record record("certify");
  record.settings = certify_settings(choice, how, predictor);
  record.notes = samples.notes;
  record.notes.insert(record.notes.end(), remarks.begin(), remarks.end());
  record.seed = choice.common.seed;
  record.ran_on(*engine, Precision::f64);
  record.timings.emplace_back("certify", seconds_since(start));
  record.results = certified_json(certified, how.radius ? std::vector<double>{*how.radius} : at);
  std::string output = certified_summary(certified) + table_text(table);
  if (choice.out) {
    write_table(sample_table(certified, predictor.classes, labels), *choice.out);
    add_file(record, output, *choice.out);
  }
  if (choice.common.report) {
    write_predictor_page(choice, predictor, certified, table, data, labels, *engine, record.page_settings());
    add_report(record, output, *choice.common.report);
  }
  print_result(choice.common, record, output);
}

void add_ball_options(CLI::App& verb, CertifyChoice& choice) {
  const char* group = "Certificate";
  verb.add_option("--norm", choice.norm, "linf or l2")->type_name("NORM")->capture_default_str()->group(group);
  verb.add_option("--method", choice.method, "paper, interval, convex or all")
      ->type_name("METHOD")
      ->capture_default_str()
      ->group(group);
  verb.add_option(
          "--units", choice.units,
          "Units of radii and box: input (units of the samples, the default) or scaled (units of the scaled features)")
      ->type_name("UNITS")
      ->group(group);
  verb.add_option("--widths", choice.widths,
                  "Half-widths of the linf ball of radius 1, one per feature; 0 for a feature that never changes")
      ->type_name("W1,W2,…")
      ->delimiter(',')
      ->group(group);
  verb.add_option("--box", choice.box, "Bounds of every feature")->type_name("LOW,HIGH")->delimiter(',')->group(group);
  verb.add_option("--radius", choice.radius, "Only decide whether this radius is certified, which is cheaper")
      ->type_name("R")
      ->group(group);
  verb.add_option("--at", choice.at, "Report the certified accuracy at these radii")
      ->type_name("R1,R2,…")
      ->delimiter(',')
      ->group(group);
  verb.add_option("--tolerance", choice.tolerance, "Relative tolerance of the radii")
      ->type_name("T")
      ->capture_default_str()
      ->group(group);
  auto* attack =
      verb.add_flag("--attack", choice.attack, "Search for the nearest input with another class")->group(group);
  verb.add_option("--attack-steps", choice.attacking.steps, "Steps of the attack")
      ->type_name("N")
      ->capture_default_str()
      ->needs(attack)
      ->group(group);
  verb.add_option("--attack-restarts", choice.attacking.restarts, "Random starts in addition to the sample itself")
      ->type_name("N")
      ->capture_default_str()
      ->needs(attack)
      ->group(group);
}

}  // namespace

void add_certify(Program& program) {
  auto* verb =
      program.cli.add_subcommand("certify", "Certify radii within which the predicted class of a sample cannot change");
  const auto choice = std::make_shared<CertifyChoice>();
  verb->add_option("--model,--network-file", choice->model, "File of a fitted model or of a trained network")
      ->type_name("MODEL.h5")
      ->required();
  verb->add_option("--out", choice->out, "Table of the radii with a row per sample: .csv, .tsv or .json")
      ->type_name("R.csv");
  add_ball_options(*verb, *choice);
  add_new_sample_options(*verb, choice->data, "Labelled samples");
  add_common_options(*verb, choice->common);
  set_example(*verb, "widelimit certify --model model.h5 --test digits --part test --limit 20 --box 0,16 --attack");
  verb->callback([choice, &program] { program.action = [choice] { run_certify(*choice); }; });
}

}  // namespace widelimit::app
