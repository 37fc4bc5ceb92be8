#include "python/bindings/finite/train_options.hpp"

#include "python/bindings/base/option_reader.hpp"

#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace widelimit::python {

TrainOptions train_options(const nb::dict& given) {
  const OptionReader reader(given);
  TrainOptions options;
  reader.take("width", options.width);
  reader.take("layer_widths", options.layer_widths);
  reader.parse("initialisation", options.initialisation, parse_initialisation);
  reader.take("flip", options.augmentation.flip);
  reader.take("crop", options.augmentation.crop);
  reader.take("checkpoint_every", options.checkpoint_every);
  reader.parse("parameterisation", options.parameterisation, parse_parameterisation);
  reader.parse("loss", options.loss.kind, parse_loss);
  reader.take("epsilon", options.loss.epsilon);
  reader.parse("regulariser", options.regulariser, parse_regulariser);
  reader.take("lam", options.lambda);
  reader.take("rate", options.rate);
  reader.take("steps", options.steps);
  reader.take("batch", options.batch);
  reader.take("epochs", options.epochs);
  reader.parse("optimiser", options.optimiser.kind, parse_optimiser);
  reader.take("momentum", options.optimiser.momentum);
  reader.take("beta1", options.optimiser.beta1);
  reader.take("beta2", options.optimiser.beta2);
  reader.take("adam_epsilon", options.optimiser.epsilon);
  reader.take("weight_decay", options.optimiser.weight_decay);
  reader.parse("schedule", options.schedule.kind, parse_learning_schedule);
  reader.take("warmup", options.schedule.warmup);
  reader.take("milestones", options.schedule.milestones);
  reader.take("rate_drop", options.schedule.drop);
  reader.take("last_rate", options.schedule.last);
  reader.take("centred", options.centred);
  reader.take("linearised", options.linearised);
  reader.take("flow", options.flow_time);
  reader.take("tolerance", options.tolerance);
  reader.take("seed", options.seed);
  reader.parse("precision", options.precision, parse_precision);
  reader.take("records", options.records);
  reader.take("record_steps", options.record_at);
  return options;
}

}  // namespace widelimit::python
