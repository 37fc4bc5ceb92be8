#include "train_options.hpp"

#include "asked_options.hpp"

#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace widelimit::python {

TrainOptions train_options(const nb::dict& given) {
  const AskedOptions asked(given);
  TrainOptions options;
  asked.take("width", options.width);
  asked.parse("parameterisation", options.parameterisation, parse_parameterisation);
  asked.parse("loss", options.loss.kind, parse_loss);
  asked.take("epsilon", options.loss.epsilon);
  asked.parse("regulariser", options.regulariser, parse_regulariser);
  asked.take("lam", options.lambda);
  asked.take("rate", options.rate);
  asked.take("steps", options.steps);
  asked.take("batch", options.batch);
  asked.take("momentum", options.momentum);
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
