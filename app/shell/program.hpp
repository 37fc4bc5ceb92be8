#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace widelimit::app {

/// Action of a verb, run after the command line is parsed.
using Action = std::function<void()>;

/// The parser and the action of the selected verb.
struct Program {
  CLI::App cli;
  Action action;
};

/// Sets the example at the end of a verb's help.
void set_example(CLI::App& verb, const std::string& command);

void add_doctor(Program& program);
void add_data(Program& program);
void add_network(Program& program);
void add_kernel(Program& program);
void add_nth(Program& program);
void add_fit(Program& program);
void add_predict(Program& program);
void add_certify(Program& program);
void add_train(Program& program);
void add_equivalence(Program& program);
void add_evolution(Program& program);
void add_tune(Program& program);
void add_compare(Program& program);
void add_likelihood(Program& program);
void add_experiment(Program& program);
void add_flow(Program& program);
void add_ensemble(Program& program);
void add_spectrum(Program& program);
void add_bound(Program& program);
void add_demo(Program& program);

}  // namespace widelimit::app
