#include "app/shell/options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"

#include "widelimit/network/forms.hpp"
#include "widelimit/network/network.hpp"
#include "widelimit/network/presets.hpp"
#include "widelimit/network/shape.hpp"
#include "widelimit/recipe/recipe.hpp"
#include "widelimit/report/table.hpp"

namespace widelimit::app {

namespace {

/// Presets by name.
Table preset_table() {
  Table table{.columns = {"preset", "what"}};
  for (const Preset& preset : list_presets()) table.rows.push_back({preset.usage(), std::string(preset.description)});
  return table;
}

Table layer_table() {
  Table table{.columns = {"layer", "arguments"}};
  for (const Form& form : forms()) table.rows.push_back({std::string(form.name), form.argument_names()});
  return table;
}

using Json = nlohmann::ordered_json;

std::string exactness_text(const LimitFormula& formula) {
  if (formula.exactness == Exactness::closed_form) return "exact: every layer has a closed form";
  if (formula.exactness == Exactness::quadrature) return "by quadrature: an activation has no closed form";
  return "Monte Carlo only: " + formula.obstacle;
}

std::string_view exactness_word(Exactness exactness) {
  if (exactness == Exactness::closed_form) return "exact";
  return exactness == Exactness::quadrature ? "quadrature" : "monte-carlo";
}

Table shape_table(const std::vector<LayerShape>& shapes) {
  Table table{.columns = {"place", "layer", "positions"}};
  for (const LayerShape& shape : shapes) {
    const std::string grid = shape.nodes ? "nodes" : fmt::format("{}x{}", shape.height, shape.width);
    table.rows.push_back({shape.place, shape.layer, grid});
  }
  return table;
}

Json shapes_json(const std::vector<LayerShape>& shapes) {
  auto list = Json::array();
  for (const LayerShape& shape : shapes) {
    list.push_back({{"place", shape.place}, {"layer", shape.layer}, {"height", shape.height}, {"width", shape.width}});
    if (shape.nodes) list.back()["nodes"] = true;
  }
  return list;
}

/// Adds shapes, cost and route for an input shape to `results` and `page`, and returns them as text.
std::string describe_for_input(const Network& network, const Shape& input, const CommonOptions& options, Json& results,
                               Page& page) {
  const auto shapes = infer_shapes(network, input);
  const Table table = shape_table(shapes);
  page.section("Shapes").table(table);
  results["input"] = to_string(input);
  results["shapes"] = shapes_json(shapes);
  std::string text =
      fmt::format("input    {}, read as {}\n", to_string(input), to_string(effective_input(network, input)));
  if (exactness(network) != Exactness::monte_carlo) {
    const Recipe recipe = lower(network, input, RecipeOutputs::ntk);
    const double operations = operations_per_pair(recipe);
    const auto engine = options.make_engine();
    const Precision precision = parse_precision(options.precision);
    const std::string obstacle = engine->kernels().obstacle(recipe, precision);
    const std::string route = obstacle.empty() ? engine->kernels().route(recipe, precision) : "none: " + obstacle;
    results["operations_per_pair"] = operations;
    if (obstacle.empty()) {
      results["route"] = route;
    } else {
      results["obstacle"] = obstacle;
    }
    const std::string pair = input.nodes ? "pair of nodes" : "pair";
    page.highlights({{"operations per " + pair, fmt::format("{:.3g}", operations)}, {"route", route}});
    text += fmt::format("cost     about {:.3g} operations per {}\nroute    {}: {}\n", operations, pair, engine->name(),
                        route);
  }
  return text + "\n" + table_text(table);
}

void run_show(const CommonOptions& options, const std::string& written, const std::optional<std::string>& input) {
  options.check_report(false);
  const Network network = Network::parse(written);
  const LimitFormula formula = limit_formula(network);
  Record record("network show");
  record.seed = options.seed;
  record.settings = {{"network", written}};
  record.results = {{"text", network.to_text()},
                    {"json", Json(network.to_json())},
                    {"layers", count_layers(network.layers)},
                    {"exactness", exactness_word(formula.exactness)},
                    {"trained", has_trained_layer(network.layers)}};
  Page page(written, exactness_text(formula));
  page.section("Network").paragraph(network.to_text()).paragraph(network.to_json().dump());
  std::string text = fmt::format("text     {}\njson     {}\nkernel   {}\n", network.to_text(), network.to_json().dump(),
                                 exactness_text(formula));
  if (!has_trained_layer(network.layers)) text += "training no layer is trained: the NTK is 0\n";
  if (input) text += describe_for_input(network, parse_shape(*input), options, record.results, page);
  if (options.report) page.write(*options.report);
  print_result(options, record, text);
}

Json names_json(const Table& table) {
  auto list = Json::array();
  for (const auto& row : table.rows) {
    list.push_back({{"name", std::get<std::string>(row[0])}, {table.columns[1], std::get<std::string>(row[1])}});
  }
  return list;
}

void run_list(const CommonOptions& options) {
  options.check_report(false);
  const Table presets = preset_table();
  const Table layers = layer_table();
  Record record("network list");
  record.seed = options.seed;
  record.results = {{"presets", names_json(presets)}, {"layers", names_json(layers)}};
  if (options.report) {
    Page("Networks", "Presets and layers of network text.").table(presets).table(layers).write(*options.report);
  }
  print_result(options, record, table_text(presets) + "\n" + table_text(layers));
}

}  // namespace

void add_network(Program& program) {
  auto* verb = program.cli.add_subcommand("network", "Describe a network, or list presets and layers");
  verb->require_subcommand(1);
  set_example(*verb, "widelimit network show fc:3 --input 28x28x1");

  const auto options = std::make_shared<CommonOptions>();
  const auto written = std::make_shared<std::string>();
  const auto input = std::make_shared<std::optional<std::string>>();
  auto* show = verb->add_subcommand("show", "Describe a network: text, JSON, exactness, shapes, cost of a pair");
  show->add_option("NET", *written, "Network: text, preset, JSON, or a file with one of these")->required();
  show->add_option("--input", *input, "Shape of a sample, e.g. 28x28x1 or 784; nodes or nodesx7 for graphs")
      ->type_name("SHAPE");
  add_common_options(*show, *options);
  set_example(*show, "widelimit network show \"cntk:3(readout=flatten)\" --input 28x28x1");
  show->callback([=, &program] { program.action = [=] { run_show(*options, *written, *input); }; });

  auto* list = verb->add_subcommand("list", "List presets and layers");
  add_common_options(*list, *options);
  set_example(*list, "widelimit network list");
  list->callback([=, &program] { program.action = [=] { run_list(*options); }; });
}

}  // namespace widelimit::app
