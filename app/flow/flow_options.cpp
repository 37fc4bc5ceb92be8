#include "app/flow/flow_options.hpp"

#include "widelimit/base/error.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <limits>

namespace widelimit::app {

namespace {

constexpr const char* flow_group = "Machine";
constexpr const char* time_group = "Gradient flow, in time";
constexpr const char* step_group = "Gradient descent, in steps";
constexpr Index usual_points = 101;
/// Of 1/λ, the time in which what is not needed decays.
constexpr double usual_until = 5;

std::vector<double> even_times(double until, Index points) {
  if (!(until > 0) || !std::isfinite(until)) fail(Code::input, "--until {}: it must be a positive number", until);
  if (points < 2) fail(Code::input, "--points {}: choose 2 or more", points);
  std::vector<double> times;
  for (Index k = 0; k < points; ++k) {
    times.push_back(until * static_cast<double>(k) / static_cast<double>(points - 1));
  }
  return times;
}

}  // namespace

bool FlowChoice::discrete() const {
  const bool in_steps = rate || schedule || steps || batch || record_every;
  const bool in_time = !times.empty() || until || points;
  if (in_steps && in_time) {
    fail(Code::usage, "give either times (--times, or --until and --points) or steps (--rate, --steps), not both");
  }
  if (!times.empty() && (until || points)) fail(Code::usage, "give either --times or --until and --points, not both");
  return in_steps;
}

Loss FlowChoice::parsed_loss() const { return {.kind = parse_loss(loss), .epsilon = epsilon}; }

FlowOptions FlowChoice::flow_options() const {
  FlowOptions options;
  options.loss = parsed_loss();
  options.lambda = lambda;
  options.tolerance = tolerance;
  options.record.samples = record;
  options.times = times;
  if (times.empty()) {
    if (!until && !(lambda > 0)) fail(Code::usage, "say how long: --until T or --times T1,T2,…");
    options.times = even_times(until.value_or(usual_until / lambda), points.value_or(usual_points));
  }
  options.validate();
  return options;
}

DescendOptions FlowChoice::descend_options() const {
  DescendOptions options;
  options.loss = parsed_loss();
  options.lambda = lambda;
  if (schedule) options.schedule = parse_schedule(*schedule);
  if (rate && options.schedule == RateSchedule::pegasos) {
    fail(Code::usage, "--schedule pegasos sets the step by λ; leave out --rate");
  }
  if (rate) options.rate = *rate;
  if (steps) options.steps = *steps;
  if (batch) options.batch = *batch;
  options.seed = common.seed;
  options.record_every = record_every.value_or(std::max<Index>(options.steps / 1000, 1));
  options.record.samples = record;
  options.validate();
  return options;
}

nlohmann::ordered_json FlowChoice::settings(const KernelRequest& request, const DataRequest& data_request) const {
  nlohmann::ordered_json result;
  kernel.tell(request, result);
  result["loss"] = loss;
  if (parse_loss(loss) == LossKind::insensitive) result["epsilon"] = epsilon;
  result["lambda"] = lambda;
  if (discrete()) {
    const DescendOptions options = descend_options();
    result["schedule"] = to_string(options.schedule);
    if (options.schedule == RateSchedule::constant) result["rate"] = options.rate;
    result["steps"] = options.steps;
    if (options.batch > 0) result["batch"] = options.batch;
    result["record_every"] = options.record_every;
  }
  result["data"] = data_settings(data_request);
  return result;
}

void add_flow_options(CLI::App& verb, FlowChoice& choice) {
  add_kernel_choice(verb, choice.kernel, flow_group);
  verb.add_option("--loss", choice.loss, "squared, hinge, squared-hinge, insensitive, logistic or softmax")
      ->type_name("LOSS")
      ->capture_default_str()
      ->group(flow_group);
  verb.add_option("--lambda", choice.lambda, "Weight λ of ‖β‖²/2 beside the sum of losses; 0 is allowed")
      ->type_name("L")
      ->capture_default_str()
      ->group(flow_group);
  verb.add_option("--epsilon", choice.epsilon, "insensitive: errors up to here cost nothing")
      ->type_name("E")
      ->capture_default_str()
      ->group(flow_group);
  verb.add_option("--record", choice.record, "Training samples whose outputs are kept; else all")
      ->type_name("I1,I2,…")
      ->delimiter(',')
      ->group(flow_group);
  verb.add_option("--out", choice.out, "File of the trajectory")->type_name("T.csv|.npz|.h5")->group(flow_group);
  verb.add_option("--times", choice.times, "Times to look at, from 0 up; inf is the limit")
      ->type_name("T1,T2,…")
      ->delimiter(',')
      ->group(time_group);
  verb.add_option("--until", choice.until, "Instead: evenly from 0 to here; else 5/λ")
      ->type_name("T")
      ->group(time_group);
  verb.add_option("--points", choice.points, "So many times; else 101")->type_name("N")->group(time_group);
  verb.add_option("--tolerance", choice.tolerance, "Of a Runge–Kutta step, for losses without a formula")
      ->type_name("T")
      ->capture_default_str()
      ->group(time_group);
  verb.add_option("--rate", choice.rate, "Step size η; else 0.1")->type_name("R")->group(step_group);
  verb.add_option("--schedule", choice.schedule, "constant, or pegasos: 1/(λt)")->type_name("HOW")->group(step_group);
  verb.add_option("--steps", choice.steps, "Number of steps; else 1000")->type_name("N")->group(step_group);
  verb.add_option("--batch", choice.batch, "Samples a step, drawn by --seed; else all")
      ->type_name("N")
      ->group(step_group);
  verb.add_option("--record-every", choice.record_every, "Steps between recorded ones; else a thousandth of all")
      ->type_name("N")
      ->group(step_group);
  add_train_option(verb, choice.data);
  add_data_options(verb, choice.data, true);
  add_common_options(verb, choice.common);
}

}  // namespace widelimit::app
