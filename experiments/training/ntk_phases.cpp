#include "experiments/experiments.hpp"

#include "widelimit/analysis/evolution/gates.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/training/weight_step.hpp"
#include "widelimit/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Options, parsed and validated before any computation.
struct PhaseChoice {
  std::vector<double> variances;
  std::vector<double> shapes;  ///< depth/width
  std::vector<Index> widths;
  Index draws = 0;
};

PhaseChoice phase_choice(const Setting& setting) {
  return {.variances = setting.numbers("variances", 0.1, 10),
          .shapes = setting.numbers("shapes", 0.01, 10),
          .widths = setting.counts("widths", 2),
          .draws = setting.count("draws", 10)};
}

/// One network: Θ(x,x) = ‖∇f‖², and its first-order change by a gradient step on ½(f − y)² at (x, y), divided by the
/// rate, without the term of y, whose mean is 0: −f·K⁽³⁾(x,x,x), K⁽³⁾ = (∇f·∇)Θ.
struct StepDraw {
  double theta = 0;
  double change = 0;
};

/// Step of the central difference relative to the norm of the weights, reduced if a unit crosses its kink. Between
/// kinks Θ is a polynomial of degree 2L, so the truncation error is O((L·share)²); the rounding error is 10⁻¹⁶/share.
constexpr double difference_share = 1e-6;
constexpr double least_share = 1e-11;

class PhaseNetwork {
 public:
  PhaseNetwork(double variance, Index width, Index depth, const Engine& engine)
      : engine_(engine), x_(1, {1, 1, width}) {
    const Network network = Network::parse(fmt::format("fc:{}(w_std={:.17g})", depth - 1, std::sqrt(variance)));
    architecture_ =
        Architecture::make(network, x_.shape(), {.hidden = width, .parameterisation = Parameterisation::standard});
    // The distribution depends only on ‖x‖, since the weight distribution is isotropic.
    std::fill_n(x_.data(), width, 1.0);
  }

  [[nodiscard]] StepDraw draw(std::uint64_t seed) const {
    const auto w = draw_parameters<double>(architecture_, seed, engine_);
    Parameters<double> direction = zero_parameters<double>(architecture_);
    double f = 0;
    StepDraw result;
    result.theta = theta(w, &f, &direction);
    const double length = std::sqrt(squared_distance(w, zero_parameters<double>(architecture_), engine_));
    if (!(result.theta > 0)) return result;
    const std::vector<bool> gates = gates_at(w);
    for (double share = difference_share; share > least_share; share /= 10) {
      const double step = share * length / std::sqrt(result.theta);
      const Parameters<double> above = moved(w, direction, step);
      const Parameters<double> below = moved(w, direction, -step);
      result.change = -f * (theta(above) - theta(below)) / (2 * step);
      if (gates_at(above) == gates && gates_at(below) == gates) break;
    }
    return result;
  }

 private:
  [[nodiscard]] std::vector<bool> gates_at(const Parameters<double>& w) const {
    return open_gates(architecture_, forward(architecture_, w, x_, {}, engine_));
  }

  double theta(const Parameters<double>& w, double* f = nullptr, Parameters<double>* gradient = nullptr) const {
    const PassOptions pass{.input_signal = false};
    const Trace<double> trace = forward(architecture_, w, x_, pass, engine_);
    Tensor<double> signal(1, architecture_.output);
    signal[0] = 1;
    const Gradient<double> back = backward(architecture_, w, trace, std::move(signal), pass, engine_);
    if (f != nullptr) *f = trace.output()[0];
    if (gradient != nullptr) add_gradient(architecture_, back, 1.0, *gradient, engine_);
    return empirical_ntk(architecture_, back, engine_)(0, 0);
  }

  [[nodiscard]] Parameters<double> moved(Parameters<double> w, const Parameters<double>& by, double step) const {
    for (std::size_t l = 0; l < w.slots.size(); ++l) {
      const std::span<double> to(w.slots[l].w);
      const std::span<const double> from(by.slots[l].w);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += step * from[i];
    }
    return w;
  }

  const Engine& engine_;
  Architecture architecture_;
  Tensor<double> x_;
};

/// E[ΔΘ]/E[Θ] as a ratio of means, with the standard error of the ratio to first order:
/// √(mean (a − Rb)²/(n − 1))/mean b.
struct PhaseRatio {
  double ratio = 0;
  double error = 0;
};

PhaseRatio ratio_of_means(const std::vector<StepDraw>& draws) {
  const auto n = static_cast<double>(draws.size());
  double change = 0;
  double theta = 0;
  for (const StepDraw& draw : draws) {
    change += draw.change / n;
    theta += draw.theta / n;
  }
  PhaseRatio result{.ratio = change / theta};
  double squares = 0;
  for (const StepDraw& draw : draws) squares += std::pow((draw.change - result.ratio * draw.theta) / theta, 2) / n;
  result.error = std::sqrt(squares / (n - 1));
  return result;
}

std::string stated_limit(double variance) {
  if (variance == 2) return "";
  return variance < 2 ? "-> 0" : "-> infinity";
}

Part phases_of(const Setting& setting, const PhaseChoice& choice, double shape, Json& json, std::string& sentence) {
  Part part{.heading = fmt::format("Depth/width = {:g}", shape), .table = {.columns = {"variance"}}};
  std::vector<Series> lines;
  for (const Index width : choice.widths) {
    part.table.columns.push_back(
        fmt::format("width {}, depth {}", width, std::max<Index>(2, std::llround(shape * static_cast<double>(width)))));
  }
  part.table.columns.emplace_back("stated");
  for (const double variance : choice.variances) {
    std::vector<Cell> row;
    row.emplace_back(fmt::format("{:g}", variance));
    Series line{.name = fmt::format("variance {:g}", variance)};
    for (const Index width : choice.widths) {
      const Index depth = std::max<Index>(2, std::llround(shape * static_cast<double>(width)));
      const PhaseNetwork network(variance, width, depth, setting.engine);
      std::vector<StepDraw> draws;
      for (Index d = 0; d < choice.draws; ++d) {
        stop_if_requested(setting.progress);
        draws.push_back(network.draw(setting.seed + json.size() * static_cast<std::uint64_t>(choice.draws) +
                                     static_cast<std::uint64_t>(d)));
      }
      const PhaseRatio found = ratio_of_means(draws);
      row.emplace_back(fmt::format("{:.3g} ± {:.1g}", found.ratio, found.error));
      json.push_back({{"shape", shape},
                      {"variance", variance},
                      {"width", width},
                      {"depth", depth},
                      {"ratio", found.ratio},
                      {"error", found.error}});
      line.x.push_back(static_cast<double>(width));
      line.y.push_back(std::fabs(found.ratio));
    }
    row.emplace_back(stated_limit(variance));
    part.table.rows.push_back(std::move(row));
    sentence += fmt::format("{}{:.2g} at variance {:g}", sentence.empty() ? "" : ", ", line.y.back() / line.y.front(),
                            variance);
    lines.push_back(std::move(line));
  }
  if (setting.figures) {
    part.pictures.push_back({.figure = curves(lines, {.title = part.heading,
                                                      .x_label = "width",
                                                      .y_label = "|E ΔΘ|/(η E Θ)",
                                                      .x_scale = AxisScale::log,
                                                      .y_scale = AxisScale::log})});
  }
  return part;
}

}  // namespace

Experiment ntk_phases() {
  return {
      .name = "ntk-phases",
      .summary = "Change of the NTK of deep ReLU networks by one training step, by weight variance",
      .work = "Zhang 2024, Neural Tangent Kernel (lecture), Theorem 7: Seleznova and Kutyniok 2022",
      .options = {{"variances", "V,...", "Variances of the weights times fan-in", "1,1.5,2,2.5,3",
                   "1,1.5,1.8,2,2.2,2.5,3"},
                  {"shapes", "R,...", "Ratios depth/width, one table each", "0.25,0.5,1", "0.1,0.25,0.5,1"},
                  {"widths", "M,...", "Widths of input and hidden layers", "8,16,32", "16,32,64,128"},
                  {"draws", "N", "Networks per configuration", "1000", "4000"}},
      .run = [](const Setting& setting) {
        const PhaseChoice choice = phase_choice(setting);
        Outcome outcome;
        Json json = Json::array();
        for (const double shape : choice.shapes) {
          std::string sentence;
          outcome.parts.push_back(phases_of(setting, choice, shape, json, sentence));
          outcome.sentence = fmt::format(
              "At depth/width {:g} the relative change of the NTK by one step increases from width {} to {} by the "
              "factors {}.",
              shape, choice.widths.front(), choice.widths.back(), sentence);
        }
        outcome.parts.back().words = fmt::format(
            "E[ΔΘ(x,x)]/E[Θ(x,x)] per unit of the learning rate, after one step on ½(f(x) − y)², to first order, as a "
            "ratio of means over {} networks with its standard error; standard parameterisation without biases, ‖x‖² = "
            "width. The term of y has mean zero; all networks are independent. Theorem 7 states limits for a fixed "
            "ratio of depth to width without numbers: 0 below variance 2 (ordered phase), infinity above (chaotic "
            "phase).",
            choice.draws);
        outcome.results["draws"] = choice.draws;
        outcome.results["ratios"] = std::move(json);
        return outcome;
      }};
}

}  // namespace widelimit::experiment
