#include "app/shell/label_aware_options.hpp"

#include "widelimit/base/error.hpp"

#include <CLI/CLI.hpp>

namespace widelimit::app {

std::optional<LabelAwareOptions> LabelAwareChoice::options(std::uint64_t seed) const {
  if (!method) {
    if (ratio || target || psd) {
      fail(Code::usage, "{} requires --label-aware METHOD", ratio ? "--ratio" : target ? "--pair-target" : "--psd");
    }
    return std::nullopt;
  }
  LabelAwareOptions result{.method = parse_label_aware_method(*method), .seed = seed, .psd = default_psd};
  if (ratio) result.ratio = *ratio;
  if (target) result.target = parse_pair_target(*target);
  if (psd) result.psd = parse_psd(*psd);
  result.validate();
  return result;
}

void LabelAwareChoice::write_settings(nlohmann::ordered_json& settings) const {
  if (!method) return;
  settings["label_aware"] = {{"method", *method},
                             {"ratio", ratio.value_or(LabelAwareOptions{}.ratio)},
                             {"psd", psd.value_or(std::string(to_string(default_psd)))}};
  if (target) settings["label_aware"]["target"] = *target;
}

void add_label_aware_options(CLI::App& verb, LabelAwareChoice& choice, const char* group, Psd default_psd) {
  choice.default_psd = default_psd;
  verb.add_option("--label-aware", choice.method,
                  "Add an estimate of whether two samples share a class: linear1, linear2, kr1, kr2, fjlt1 or fjlt2")
      ->type_name("METHOD")
      ->group(group);
  verb.add_option("--ratio", choice.ratio, "--label-aware: size of the estimate relative to the kernel; default 0.1")
      ->type_name("R")
      ->group(group);
  verb.add_option("--pair-target", choice.target,
                  "--label-aware: same (1 or 0) or signed (1 or -1); default: signed for two classes, same for more")
      ->type_name("WHAT")
      ->group(group);
  verb.add_option("--psd", choice.psd,
                  fmt::format("--label-aware: keep negative eigenvalues (none), set them to 0 (clip), shift the "
                              "spectrum (shift), or fail (refuse); default {}",
                              to_string(default_psd)))
      ->type_name("HOW")
      ->group(group);
}

nlohmann::ordered_json label_aware_json(const LabelAwareKernels& made) {
  const LabelAware& aware = made.aware;
  nlohmann::ordered_json json{{"method", to_string(aware.method)},
                              {"target", to_string(aware.target)},
                              {"ratio", aware.ratio},
                              {"lambda", aware.lambda}};
  if (const auto* regression = std::get_if<PairRegression>(&aware.estimate)) {
    json["explained"] = regression->explained;
    json["rank"] = regression->rank;
    const std::vector<std::string> names = pair_feature_names(regression->basis, std::ssize(regression->own));
    for (std::size_t f = 0; f < names.size(); ++f) json["coefficients"][names[f]] = regression->coefficients[f];
  } else {
    json["pairs_beyond_range"] = made.beyond;
  }
  json["psd"] = to_string(made.repair.psd);
  if (const Inertia& signs = made.repair.inertia; signs != Inertia{}) {
    json["inertia"] = {{"negative", signs.negative}, {"zero", signs.zero}, {"positive", signs.positive}};
    json["smallest_eigenvalue"] = made.repair.smallest;
    json["largest_eigenvalue"] = made.repair.largest;
    json["smallest_magnitude"] = made.repair.nearest;
  }
  if (made.repair.shift != 0) json["shift"] = made.repair.shift;
  return json;
}

std::string label_aware_summary(const LabelAwareKernels& made) {
  const LabelAware& aware = made.aware;
  std::string text = fmt::format("label-aware by {}, λ = {:.6g}", to_string(aware.method), aware.lambda);
  if (const auto* regression = std::get_if<PairRegression>(&aware.estimate)) {
    text += fmt::format(", {} of {} features linearly independent, {:.3g} % of the targets explained", regression->rank,
                        regression->coefficients.size(), 100 * regression->explained);
  } else if (made.beyond > 0) {
    text += fmt::format(", {} pairs outside the range of the training pairs", made.beyond);
  }
  text += "\n";
  const SpectrumRepair& repair = made.repair;
  if (repair.inertia == Inertia{}) return text;
  text += fmt::format(
      "eigenvalues: {} positive, {} negative, {} zero to rounding; smallest {:.3g}, largest magnitude {:.3g}",
      repair.inertia.positive, repair.inertia.negative, repair.inertia.zero, repair.smallest, repair.largest);
  if (repair.inertia.negative > 0 && repair.psd == Psd::clip) text += "; negative ones clipped";
  if (repair.shift != 0) text += fmt::format("; shifted by {:.6g}", repair.shift);
  return text + "\n";
}

}  // namespace widelimit::app
