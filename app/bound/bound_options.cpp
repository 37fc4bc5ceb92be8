#include "app/bound/bound_options.hpp"

#include "widelimit/base/error.hpp"

#include <CLI/CLI.hpp>

namespace widelimit::app {

namespace {

constexpr const char* bound_group = "Bound";

}  // namespace

void BoundChoice::validate() const {
  if (!(delta > 0 && delta < 1)) {
    fail(Code::usage, "--delta {}: choose a number between 0 and 1, such as 0.05", delta);
  }
  bound_options().validate();
  if (flip && !(*flip >= 0 && *flip < 0.5)) {
    fail(Code::usage, "--flip {}: it must be from 0 to below 0.5, where labels say nothing", *flip);
  }
  for (const Index size : sizes) {
    if (size < 1) fail(Code::usage, "--sizes {}: a bound needs one sample at least", size);
  }
  if (!model) {
    (void)fit.machine_options();
    return;
  }
  if (fit.kernel.network || fit.kernel.classical || fit.kernel.gram) {
    fail(Code::usage, "--model has a kernel of its own; leave --network, --classical and --gram out");
  }
  if (!sizes.empty() || random_labels || flip) {
    fail(Code::usage, "--sizes, --random-labels and --flip fit again; give --network and --machine, not --model");
  }
  if (fit.data.parsed().scale != Scaling::none) {
    fail(Code::usage, "--scale: the model scales samples as it was taught; leave it out");
  }
}

RademacherOptions BoundChoice::bound_options() const {
  RademacherOptions options{.delta = delta, .loss = {}, .clip = clip};
  if (loss) options.loss = Loss{.kind = parse_loss(*loss), .epsilon = fit.epsilon};
  return options;
}

nlohmann::ordered_json BoundChoice::settings(const KernelRequest& request, const DataRequest& data) const {
  nlohmann::ordered_json result;
  if (model) {
    result["model"] = *model;
    result["data"] = data_settings(data);
  } else {
    result = fit_settings(fit, request, data);
  }
  result["delta"] = delta;
  if (loss) result["loss"] = *loss;
  if (clip) result["clip"] = *clip;
  if (!sizes.empty()) result["sizes"] = sizes;
  if (random_labels) result["random_labels"] = *random_labels;
  if (flip) result["flip"] = *flip;
  return result;
}

void add_bound_options(CLI::App& verb, BoundChoice& choice) {
  add_machine_options(verb, choice.fit);
  verb.add_option("--model", choice.model, "Instead of a fit: a model fitted to --train before")
      ->type_name("MODEL.h5")
      ->group(bound_group);
  verb.add_option("--delta", choice.delta, "Share of samples on which a bound may fail")
      ->type_name("D")
      ->capture_default_str()
      ->group(bound_group);
  verb.add_option("--loss", choice.loss,
                  "Loss that stands for errors: hinge (as usual), squared, squared-hinge, insensitive or logistic")
      ->type_name("LOSS")
      ->group(bound_group);
  verb.add_option("--clip", choice.clip, "Numbers, not classes: a loss counts at most this; else 1")
      ->type_name("C")
      ->group(bound_group);
  verb.add_option("--sizes", choice.sizes, "Bounds of the first N samples, for each of these; else of all")
      ->type_name("N1,N2,…")
      ->delimiter(',')
      ->group(bound_group);
  verb.add_option("--random-labels", choice.random_labels, "The same for labels drawn at random by this seed")
      ->type_name("SEED")
      ->group(bound_group);
  verb.add_option("--flip", choice.flip, "Two classes: the same for labels flipped with this probability, by --seed")
      ->type_name("P")
      ->group(bound_group);
  add_train_option(verb, choice.fit.data);
  add_data_options(verb, choice.fit.data, true);
  add_common_options(verb, choice.fit.common);
}

}  // namespace widelimit::app
