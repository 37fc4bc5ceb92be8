#include "widelimit/finite/architecture.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/network/shape.hpp"

#include <cmath>

namespace widelimit {

namespace {

constexpr Index max_width = Index{1} << 24;
constexpr Index max_weights = Index{1} << 32;

/// Whether the number of channels a chain ends with can be chosen.
bool chooses_width(const Layers& layers);

bool chooses_width(const Layer& layer) {
  if (const auto* residual = std::get_if<Residual>(&layer.value)) {
    return chooses_width(residual->branch) && residual->shortcut && chooses_width(*residual->shortcut);
  }
  return std::holds_alternative<Dense>(layer.value) || std::holds_alternative<Conv>(layer.value) ||
         std::holds_alternative<Attention>(layer.value);
}

bool chooses_width(const Layers& layers) {
  for (const Layer& layer : layers) {
    if (chooses_width(layer)) return true;
  }
  return false;
}

Shape windowed(const Shape& in, const Extent& window, const Extent& strides, Padding padding) {
  return {windowing(in.height, window.rows, strides.rows, padding).count,
          windowing(in.width, window.cols, strides.cols, padding).count, in.channels};
}

/// Lays stages out in order of evaluation. Copied where the width of a chain must be known before it is laid out.
class Builder {
 public:
  explicit Builder(Index hidden) : hidden_(hidden) {}

  /// `channels`: what the chain must end with, where something fixes it.
  std::vector<Stage> chain(const Layers& layers, Shape in, std::optional<Index> channels, const std::string& prefix) {
    const std::size_t chooser = last_chooser(layers);
    const Index chosen = channels ? fitting_width(layers, in, *channels, prefix) : hidden_;
    std::vector<Stage> stages;
    for (std::size_t k = 0; k < layers.size(); ++k) {
      const std::string place = fmt::format("{}{}", prefix, k + 1);
      const std::optional<Index> width = k == chooser ? std::optional(chosen) : std::nullopt;
      stages.push_back(stage(layers[k], in, width, place));
      in = stages.back().out;
    }
    return stages;
  }

  std::vector<WeightSlot> slots;
  Index dropouts = 0;

 private:
  static std::size_t last_chooser(const Layers& layers) {
    for (std::size_t k = layers.size(); k-- > 0;) {
      if (chooses_width(layers[k])) return k;
    }
    return layers.size();
  }

  Shape shape_after(const Layers& layers, const Shape& in, const std::string& prefix) const {
    if (layers.empty()) return in;
    Builder trial(*this);
    return trial.chain(layers, in, {}, prefix).back().out;
  }

  /// What the layer that decides must have for the chain to end with `channels`: later layers multiply channels by a
  /// constant (flatten by the number of positions).
  Index fitting_width(const Layers& layers, const Shape& in, Index channels, const std::string& prefix) const {
    const Index usual = shape_after(layers, in, prefix).channels;
    const bool free = last_chooser(layers) < layers.size();
    const Index factor = free ? usual / hidden_ : 1;
    if ((free && channels % factor != 0) || (!free && usual != channels)) {
      fail(Code::input, "layers {}…: {} channels are needed here, which these layers cannot give", prefix, channels);
    }
    return channels / factor;
  }

  Index add_slot(Index fan_in, Index fan_out, double w_std, double b_std) {
    if (fan_in > max_weights / fan_out) {
      fail(Code::resource, "a layer of {} × {} weights does not fit in memory; choose a smaller width", fan_in,
           fan_out);
    }
    slots.push_back({fan_in, fan_out, w_std / std::sqrt(static_cast<double>(fan_in)), b_std});
    return static_cast<Index>(slots.size()) - 1;
  }

  Stage stage(const Layer& layer, const Shape& in, std::optional<Index> width, const std::string& place) {
    Stage result{layer, place, in, in, 0, 0, nullptr, {}, {}};
    const Index channels = width.value_or(hidden_);
    std::visit([&](const auto& value) { lay_out(value, result, channels, width); }, layer.value);
    return result;
  }

  using Width = std::optional<Index>;

  void lay_out(const Dense& dense, Stage& stage, Index channels, Width) {
    stage.out.channels = channels;
    stage.slot = add_slot(stage.in.channels, channels, dense.w_std, dense.b_std);
  }
  void lay_out(const Conv& conv, Stage& stage, Index channels, Width) {
    stage.out = windowed(stage.in, conv.kernel, conv.strides, conv.padding);
    stage.out.channels = channels;
    stage.slot = add_slot(stage.in.channels * conv.kernel.rows * conv.kernel.cols, channels, conv.w_std, conv.b_std);
  }
  void lay_out(const Attention&, Stage& stage, Index channels, Width) {
    stage.out.channels = channels;
    stage.slot = add_slot(stage.in.channels, hidden_, 1.0, 0.0);  // query and key, tied
    add_slot(stage.in.channels, hidden_, 1.0, 0.0);               // value
    add_slot(hidden_, channels, 1.0, 0.0);                        // output
  }
  void lay_out(const Activation& activation, Stage& stage, Index, Width) {
    if (activation.phi == Phi::custom) stage.custom = find_activation(activation.name);
  }
  void lay_out(const Pool& pool, Stage& stage, Index, Width) {
    stage.out = windowed(stage.in, pool.window, pool.strides, pool.padding);
  }
  void lay_out(const GlobalPool&, Stage& stage, Index, Width) { stage.out = {1, 1, stage.in.channels}; }
  void lay_out(const Flatten&, Stage& stage, Index, Width) { stage.out = stage.in.flattened(); }
  void lay_out(const LayerNorm&, Stage&, Index, Width) {}
  void lay_out(const Dropout&, Stage& stage, Index, Width) { stage.dropout = dropouts++; }
  void lay_out(const Residual& residual, Stage& stage, Index channels, Width width) {
    const std::string branch_place = stage.place + ".branch.";
    const std::string shortcut_place = stage.place + ".shortcut.";
    const Layers shortcut = residual.shortcut.value_or(Layers{});
    Index wanted = channels;
    if (!width) {
      const bool branch_free = chooses_width(residual.branch);
      const bool shortcut_free = chooses_width(shortcut);
      if (branch_free && !shortcut_free) wanted = shape_after(shortcut, stage.in, shortcut_place).channels;
      if (!branch_free) wanted = shape_after(residual.branch, stage.in, branch_place).channels;
    }
    stage.branch = chain(residual.branch, stage.in, wanted, branch_place);
    stage.shortcut = chain(shortcut, stage.in, wanted, shortcut_place);
    if (!stage.branch.empty()) {
      stage.out = stage.branch.back().out;
    } else if (!stage.shortcut.empty()) {
      stage.out = stage.shortcut.back().out;
    }
  }

  Index hidden_;
};

}  // namespace

void Widths::validate() const {
  if (hidden < 1 || hidden > max_width || outputs < 1 || outputs > max_width) {
    fail(Code::usage, "width {} with {} outputs: both must lie between 1 and {}", hidden, outputs, max_width);
  }
}

Architecture Architecture::make(const Network& network, const Shape& input, const Widths& widths) {
  widths.validate();
  (void)infer_shapes(network, input);  // refuses what is not a network on this input
  Architecture architecture;
  architecture.input = effective_input(network, input);
  const auto& last = network.layers.back().value;
  const bool readout = std::holds_alternative<Dense>(last) || std::holds_alternative<Conv>(last);
  Builder builder(widths.hidden);
  architecture.stages =
      builder.chain(network.layers, architecture.input, readout ? std::optional(widths.outputs) : std::nullopt, "");
  architecture.slots = std::move(builder.slots);
  architecture.dropouts = builder.dropouts;
  architecture.output = architecture.stages.back().out;
  return architecture;
}

bool Architecture::ends_in_dense() const { return std::holds_alternative<Dense>(stages.back().layer.value); }

}  // namespace widelimit
