#include "app/shell/data_options.hpp"

#include "widelimit/base/error.hpp"

#include <CLI/CLI.hpp>

namespace widelimit::app {

namespace {

constexpr const char* data_group = "Data";
constexpr const char* sources =
    " (a data set of 'widelimit data list', a file, a folder of images, or - for a table on standard input)";

void add_names(CLI::App& verb, const std::string& option, std::vector<std::string>& names, const std::string& what) {
  verb.add_option(option, names, what)->type_name("A,B,…")->delimiter(',')->group(data_group);
}

void add_test_options(CLI::App& verb, DataChoice& choice) {
  DataRequest& request = choice.request;
  verb.add_option("--test", request.test, "Test samples, given like --train")->type_name("SPEC")->group(data_group);
  verb.add_option("--test-limit", request.test_limit, "Use only the first N test samples")
      ->type_name("N")
      ->group(data_group);
  verb.add_option("--split", request.split, "Fraction of the samples to train on; the others are held out for testing")
      ->type_name("0.8")
      ->group(data_group);
  verb.add_option("--split-order", choice.split_order,
                  "stratified (drawn by --seed, the same fraction of every class) or file (test on the last samples)")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(data_group);
}

/// Adds the options common to training samples and new samples.
void add_row_options(CLI::App& verb, DataChoice& choice) {
  DataRequest& request = choice.request;
  add_names(verb, "--classes", request.classes, "Keep only these classes");
  verb.add_option("--limit", request.limit, "Use only the first N samples")->type_name("N")->group(data_group);
  verb.add_option("--shuffle", request.shuffle, "Shuffle first, with this seed")->type_name("SEED")->group(data_group);
  verb.add_option("--label", request.label,
                  "Column or array of the labels, or none; several numeric columns are predicted together")
      ->type_name("NAME[,NAME]")
      ->group(data_group);
  verb.add_option("--shape", choice.shape, "Read flat samples as images of this shape, e.g. 28x28x1")
      ->type_name("HxWxC")
      ->group(data_group);
  verb.add_flag("--channels-first", request.layout.channels_first, "Images are stored channel by channel (CxHxW)")
      ->group(data_group);
}

nlohmann::ordered_json row_settings(const DataRequest& request) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!request.classes.empty()) json["classes"] = request.classes;
  if (request.limit) json["limit"] = *request.limit;
  if (request.test_limit) json["test_limit"] = *request.test_limit;
  if (request.shuffle) json["shuffle"] = *request.shuffle;
  if (request.layout.shape) json["shape"] = to_string(*request.layout.shape);
  if (request.layout.channels_first) json["channels_first"] = true;
  return json;
}

void add_table_settings(const TableOptions& table, nlohmann::ordered_json& json) {
  if (!table.columns.empty()) json["columns"] = table.columns;
  if (!table.drop.empty()) json["drop"] = table.drop;
  if (!table.categorical.empty()) json["categorical"] = table.categorical;
  if (table.missing != Missing::refuse) json["missing"] = to_string(table.missing);
}

}  // namespace

DataRequest DataChoice::parsed() const {
  DataRequest result = request;
  result.scale = parse_scaling(scale);
  result.split_order = parse_split_order(split_order);
  if (task) result.task = parse_task(*task);
  result.table.missing = parse_missing(missing);
  if (shape) result.layout.shape = parse_shape(*shape);
  result.validate();
  return result;
}

void add_train_option(CLI::App& verb, DataChoice& choice) {
  verb.add_option("--train", choice.request.train, std::string("Samples") + sources)
      ->type_name("SPEC")
      ->required()
      ->group(data_group);
}

void add_data_options(CLI::App& verb, DataChoice& choice, bool test) {
  if (test) add_test_options(verb, choice);
  add_row_options(verb, choice);
  TableOptions& table = choice.request.table;
  verb.add_option("--scale", choice.scale,
                  "Scaling, fitted to the training set: none, unit, standard, channel, minmax, maxabs or byte")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(data_group);
  verb.add_option("--task", choice.task, "Meaning of integer labels: classification or regression; guessed by default")
      ->type_name("TASK")
      ->group(data_group);
  add_names(verb, "--columns", table.columns, "Tables: use only these columns, by name or number");
  add_names(verb, "--drop", table.drop, "Tables: leave these columns out");
  add_names(verb, "--categorical", table.categorical, "Tables: numeric columns that encode categories");
  verb.add_option("--missing", choice.missing,
                  "Tables with missing values: refuse, drop (the rows), or mean or median (of the training set)")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(data_group);
}

void add_new_sample_options(CLI::App& verb, DataChoice& choice, const std::string& what) {
  verb.add_option("--test", choice.request.train, what + sources)->type_name("SPEC")->required()->group(data_group);
  verb.add_option("--part", choice.part, "all, or the test or train part of the split used to fit the model")
      ->type_name("PART")
      ->capture_default_str()
      ->group(data_group);
  add_row_options(verb, choice);
  verb.add_option("--missing", choice.missing,
                  "Tables with missing values: refuse or drop (the rows); ignored if the model imputes them")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(data_group);
  // Hidden option, parsed only to explain why it is refused.
  verb.add_option("--scale", choice.scale)->group("")->check([](const std::string&) -> std::string {
    fail(Code::usage, "--scale: the model applies the scaling that it was fitted with; leave it out");
  });
}

nlohmann::ordered_json data_settings(const DataRequest& request) {
  nlohmann::ordered_json json;
  json["train"] = request.train;
  if (request.test) json["test"] = *request.test;
  json.update(row_settings(request));
  json["scale"] = to_string(request.scale);
  if (request.split) {
    json["split"] = *request.split;
    json["split_order"] = to_string(request.split_order);
  }
  if (request.label) json["label"] = *request.label;
  if (request.task) json["task"] = to_string(*request.task);
  add_table_settings(request.table, json);
  return json;
}

nlohmann::ordered_json new_sample_settings(const DataChoice& choice) {
  const DataRequest request = choice.parsed();
  nlohmann::ordered_json json;
  json["test"] = request.train;
  json["part"] = choice.part;
  json.update(row_settings(request));
  if (request.label) json["label"] = *request.label;
  add_table_settings(request.table, json);
  return json;
}

}  // namespace widelimit::app
