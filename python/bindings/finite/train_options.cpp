#include "python/bindings/finite/train_options.hpp"

#include "python/bindings/base/asked_options.hpp"

#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace widelimit::python {

TrainOptions train_options(const nb::dict& given) {
  const AskedOptions asked(given);
  TrainOptions options;
  asked.take("width", options.width);
  asked.take("layer_widths", options.layer_widths);
  asked.parse("initialisation", options.initialisation, parse_initialisation);
  asked.take("flip", options.augmentation.flip);
  asked.take("crop", options.augmentation.crop);
  asked.take("checkpoint_every", options.checkpoint_every);
  asked.parse("parameterisation", options.parameterisation, parse_parameterisation);
  asked.parse("loss", options.loss.kind, parse_loss);
  asked.take("epsilon", options.loss.epsilon);
  asked.parse("regulariser", options.regulariser, parse_regulariser);
  asked.take("lam", options.lambda);
  asked.take("rate", options.rate);
  asked.take("steps", options.steps);
  asked.take("batch", options.batch);
  asked.take("epochs", options.epochs);
  asked.parse("optimiser", options.optimiser.kind, parse_optimiser);
  asked.take("momentum", options.optimiser.momentum);
  asked.take("beta1", options.optimiser.beta1);
  asked.take("beta2", options.optimiser.beta2);
  asked.take("adam_epsilon", options.optimiser.epsilon);
  asked.take("weight_decay", options.optimiser.weight_decay);
  asked.parse("schedule", options.schedule.kind, parse_learning_schedule);
  asked.take("warmup", options.schedule.warmup);
  asked.take("milestones", options.schedule.milestones);
  asked.take("rate_drop", options.schedule.drop);
  asked.take("last_rate", options.schedule.last);
  asked.take("centred", options.centred);
  asked.take("linearised", options.linearised);
  asked.take("flow", options.flow_time);
  asked.take("tolerance", options.tolerance);
  asked.take("seed", options.seed);
  asked.parse("precision", options.precision, parse_precision);
  asked.take("records", options.records);
  asked.take("record_steps", options.record_at);
  return options;
}

}  // namespace widelimit::python
