#include "app/shell/data_options.hpp"

#include <CLI/CLI.hpp>

namespace widelimit::app {

namespace {

constexpr const char* data_group = "Data";

void add_test_options(CLI::App& verb, DataRequest& request) {
  verb.add_option("--test", request.test, "Test samples")->type_name("SPEC")->group(data_group);
  verb.add_option("--test-limit", request.test_limit, "Only the first N test samples")
      ->type_name("N")
      ->group(data_group);
  verb.add_option("--split", request.split, "Fraction of the samples to train on; the others are held out for testing")
      ->type_name("0.8")
      ->group(data_group);
}

}  // namespace

std::vector<std::string> DataChoice::specs(std::vector<std::string> more) const {
  more.push_back(request.train);
  if (request.test) more.push_back(*request.test);
  return more;
}

DataRequest DataChoice::parsed() const {
  DataRequest result = request;
  result.scale = parse_scaling(scale);
  if (shape) result.layout.shape = parse_shape(*shape);
  result.validate();
  return result;
}

void add_train_option(CLI::App& verb, DataChoice& choice) {
  verb.add_option("--train", choice.request.train, "Samples (see 'widelimit data list')")
      ->type_name("SPEC")
      ->required()
      ->group(data_group);
}

void add_data_options(CLI::App& verb, DataChoice& choice, bool test) {
  DataRequest& request = choice.request;
  if (test) add_test_options(verb, request);
  verb.add_option("--classes", request.classes, "Keep only these classes")
      ->type_name("A,B,…")
      ->delimiter(',')
      ->group(data_group);
  verb.add_option("--limit", request.limit, "Only the first N samples")->type_name("N")->group(data_group);
  verb.add_option("--shuffle", request.shuffle, "Shuffle first, by this seed")->type_name("SEED")->group(data_group);
  verb.add_option("--scale", choice.scale, "none, unit, standard, minmax or byte; learned on the training set")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(data_group);
  verb.add_option("--label", request.label, "Column or array of the labels, or none")
      ->type_name("NAME")
      ->group(data_group);
  verb.add_option("--shape", choice.shape, "Shape of the images that flat samples are, as 28x28x1")
      ->type_name("HxWxC")
      ->group(data_group);
  verb.add_flag("--channels-first", request.layout.channels_first, "Images lie channel by channel (CxHxW)")
      ->group(data_group);
}

nlohmann::ordered_json data_settings(const DataRequest& request) {
  nlohmann::ordered_json json;
  json["train"] = request.train;
  if (request.test) json["test"] = *request.test;
  if (!request.classes.empty()) json["classes"] = request.classes;
  if (request.limit) json["limit"] = *request.limit;
  if (request.test_limit) json["test_limit"] = *request.test_limit;
  if (request.shuffle) json["shuffle"] = *request.shuffle;
  json["scale"] = to_string(request.scale);
  if (request.split) json["split"] = *request.split;
  if (request.label) json["label"] = *request.label;
  if (request.layout.shape) json["shape"] = to_string(*request.layout.shape);
  if (request.layout.channels_first) json["channels_first"] = true;
  return json;
}

}  // namespace widelimit::app
