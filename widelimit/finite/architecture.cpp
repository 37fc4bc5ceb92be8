#include "widelimit/finite/architecture.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/network/shape.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>

namespace widelimit {

namespace {

constexpr Index max_width = Index{1} << 24;
constexpr Index max_weights = Index{1} << 32;
constexpr std::array<std::string_view, 2> parameterisation_names{"ntk", "standard"};
constexpr std::array<std::string_view, 3> initialisation_names{"normal", "uniform", "pytorch"};

bool any_trained(std::span<const WeightSlot> slots) {
  return std::any_of(slots.begin(), slots.end(), [](const WeightSlot& slot) { return slot.trained; });
}

/// Returns whether the number of output channels of a chain is free.
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

const Layers& shortcut_of(const Residual& residual) {
  static const Layers identity;
  return residual.shortcut ? *residual.shortcut : identity;
}

/// The requested width of each layer whose width is free.
class RequestedWidths {
 public:
  RequestedWidths(const Network& network, const Widths& widths) : hidden_(widths.hidden) {
    if (widths.layers.empty()) return;
    std::vector<const Layer*> layers;
    collect(network.layers, layers);
    const Layer& last = network.layers.back();
    if (!layers.empty() && layers.back() == &last && !std::holds_alternative<Attention>(last.value)) layers.pop_back();
    if (layers.size() != widths.layers.size()) {
      fail(Code::usage, "{} widths for {} layers; give one for each dense, conv and attention layer before the last",
           widths.layers.size(), layers.size());
    }
    for (std::size_t k = 0; k < layers.size(); ++k) own_.emplace(layers[k], widths.layers[k]);
  }

  /// Returns the requested width; for a residual, that of its last layer with a free width.
  [[nodiscard]] Index of(const Layer& layer) const {
    const auto* residual = std::get_if<Residual>(&layer.value);
    if (residual == nullptr) {
      const auto found = own_.find(&layer);
      return found == own_.end() ? hidden_ : found->second;
    }
    for (const Layers* arm : {&residual->branch, &shortcut_of(*residual)}) {
      for (std::size_t k = arm->size(); k-- > 0;) {
        if (chooses_width((*arm)[k])) return of((*arm)[k]);
      }
    }
    return hidden_;
  }
  /// Returns whether this layer was given an individual width.
  [[nodiscard]] bool names(const Layer& layer) const { return own_.contains(&layer); }

 private:
  static void collect(const Layers& layers, std::vector<const Layer*>& found) {
    for (const Layer& layer : layers) {
      if (const auto* residual = std::get_if<Residual>(&layer.value)) {
        collect(residual->branch, found);
        collect(shortcut_of(*residual), found);
      } else if (chooses_width(layer)) {
        found.push_back(&layer);
      }
    }
  }

  Index hidden_;
  std::unordered_map<const Layer*, Index> own_;
};

/// Computes output shapes. Layers with a free width have `channels` for the layer itself and the requested width for
/// nested layers. Visits only one arm of a residual (infer_shapes has checked that positions agree), so that nesting is
/// cheap.
struct ShapeAfter {
  const RequestedWidths& requested;

  static Shape windowed(const Shape& in, const Extent& window, const Extent& strides, Padding padding, Index channels) {
    return {windowing(in.height, window.rows, strides.rows, padding).count,
            windowing(in.width, window.cols, strides.cols, padding).count, channels};
  }

  Shape operator()(const Dense&, const Shape& in, Index channels) const { return {in.height, in.width, channels}; }
  Shape operator()(const Attention&, const Shape& in, Index channels) const { return {in.height, in.width, channels}; }
  Shape operator()(const Conv& conv, const Shape& in, Index channels) const {
    return windowed(in, conv.kernel, conv.strides, conv.padding, channels);
  }
  Shape operator()(const Pool& pool, const Shape& in, Index) const {
    return windowed(in, pool.window, pool.strides, pool.padding, in.channels);
  }
  Shape operator()(const Aggregate&, const Shape& in, Index) const { return in; }
  Shape operator()(const Activation&, const Shape& in, Index) const { return in; }
  Shape operator()(const LayerNorm&, const Shape& in, Index) const { return in; }
  Shape operator()(const Dropout&, const Shape& in, Index) const { return in; }
  Shape operator()(const Scale&, const Shape& in, Index) const { return in; }
  Shape operator()(const GlobalPool&, const Shape& in, Index) const { return {1, 1, in.channels}; }
  Shape operator()(const Flatten&, const Shape& in, Index) const { return in.flattened(); }
  Shape operator()(const Residual& residual, const Shape& in, Index channels) const {
    if (!chooses_width(residual.branch)) return (*this)(residual.branch, in);
    Shape out = (*this)(shortcut_of(residual), in);
    if (chooses_width(shortcut_of(residual))) out.channels = channels;
    return out;
  }
  Shape operator()(const Layer& layer, const Shape& in, Index channels) const {
    return std::visit([&](const auto& value) { return (*this)(value, in, channels); }, layer.value);
  }
  Shape operator()(const Layers& layers, Shape in) const {
    for (const Layer& layer : layers) in = (*this)(layer, in, requested.of(layer));
    return in;
  }
};

/// Creates stages in order of evaluation and numbers their slots and dropout layers.
class Builder {
 public:
  Builder(const Network& network, const Widths& widths)
      : hidden_(widths.hidden),
        parameterisation_(widths.parameterisation),
        initialisation_(widths.initialisation),
        requested_(network, widths),
        shape_after_{requested_} {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// `channels`: required number of output channels of the chain, if fixed.
  std::vector<Stage> chain(const Layers& layers, Shape in, std::optional<Index> channels, const std::string& prefix) {
    const std::size_t chooser = last_chooser(layers);
    const Index fixed = channels ? fitting_width(layers, in, *channels, prefix) : 0;
    std::vector<Stage> stages;
    for (std::size_t k = 0; k < layers.size(); ++k) {
      const Index requested = requested_.of(layers[k]);
      const Index given = k == chooser && fixed > 0 ? fixed : requested;
      if (requested_.names(layers[k]) && given != requested) {
        fail(Code::input, "layer {}{} has the requested width {}, but the other arm of its residual has {} channels",
             prefix, k + 1, requested, given);
      }
      const Shape out = shape_after_(layers[k], in, given);
      Stage stage{layers[k], fmt::format("{}{}", prefix, k + 1), in, out, 0, false, 0, nullptr, nullptr, {}, {}};
      const auto first_slot = std::ssize(slots);
      std::visit([&](const auto& layer) { lay_out(layer, stage); }, layers[k].value);
      stage.trains = any_trained(std::span(slots).subspan(usize(first_slot)));
      stages.push_back(std::move(stage));
      in = out;
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

  /// Returns the width that the last layer with a free width needs for the chain to end with `channels`: later layers
  /// multiply channels by a constant (flatten by the number of positions).
  Index fitting_width(const Layers& layers, const Shape& in, Index channels, const std::string& prefix) const {
    const Index usual = shape_after_(layers, in).channels;
    const std::size_t chooser = last_chooser(layers);
    const bool free = chooser < layers.size();
    const Index factor = free ? usual / requested_.of(layers[chooser]) : 1;
    if ((free && channels % factor != 0) || (!free && usual != channels)) {
      fail(Code::input,
           "layers {}1 …: the arms of this residual cannot be made equally wide: one has {} channels, the other a "
           "multiple of {}; end both with a dense or conv layer",
           prefix, channels, free ? factor : usual);
    }
    return channels / factor;
  }

  Index add_slot(Index fan_in, Index fan_out, double w_std, double b_std, bool frozen) {
    if (fan_in > max_weights / fan_out) {
      fail(Code::resource, "a layer of {} × {} weights does not fit in memory; choose a smaller width", fan_in,
           fan_out);
    }
    slots.push_back({.fan_in = fan_in,
                     .fan_out = fan_out,
                     .w_scale = w_std / std::sqrt(static_cast<double>(fan_in)),
                     .b_scale = b_std,
                     .uniform = initialisation_ != Initialisation::normal,
                     .trained = !frozen});
    WeightSlot& slot = slots.back();
    if (initialisation_ == Initialisation::pytorch) {
      const double deviation = 1 / std::sqrt(3 * static_cast<double>(fan_in));
      slot.w_scale = deviation;
      if (slot.biased()) slot.b_scale = deviation;
    }
    if (parameterisation_ == Parameterisation::standard) slot.absorb_scales();
    return static_cast<Index>(slots.size()) - 1;
  }

  void lay_out(const Dense& dense, Stage& stage) {
    stage.slot = add_slot(stage.in.channels, stage.out.channels, dense.w_std, dense.b_std, dense.frozen);
  }
  void lay_out(const Conv& conv, Stage& stage) {
    const Index fan_in = stage.in.channels * conv.kernel.rows * conv.kernel.cols;
    stage.slot = add_slot(fan_in, stage.out.channels, conv.w_std, conv.b_std, conv.frozen);
    stage.windows = std::make_shared<const Windows>(stage.in, conv.kernel, conv.strides, conv.padding);
  }
  void lay_out(const Attention& attention, Stage& stage) {
    stage.slot = add_slot(stage.in.channels, hidden_, 1.0, 0.0, attention.frozen);  // query and key, tied
    add_slot(stage.in.channels, hidden_, 1.0, 0.0, attention.frozen);               // value
    add_slot(hidden_, stage.out.channels, 1.0, 0.0, attention.frozen);              // output
  }
  void lay_out(const Activation& activation, Stage& stage) {
    if (activation.phi == Phi::custom) stage.custom = find_activation(activation.name);
  }
  void lay_out(const Dropout&, Stage& stage) { stage.dropout = dropouts++; }
  void lay_out(const Residual& residual, Stage& stage) {
    stage.branch = chain(residual.branch, stage.in, stage.out.channels, stage.place + ".branch.");
    stage.shortcut = chain(shortcut_of(residual), stage.in, stage.out.channels, stage.place + ".shortcut.");
  }
  void lay_out(const Pool& pool, Stage& stage) {
    stage.windows = std::make_shared<const Windows>(stage.in, pool.window, pool.strides, pool.padding);
  }
  void lay_out(const GlobalPool&, Stage&) {}
  void lay_out(const Flatten&, Stage&) {}
  void lay_out(const LayerNorm&, Stage&) {}
  void lay_out(const Scale&, Stage&) {}
  void lay_out(const Aggregate&, Stage& stage) { refuse_graphs(stage.place); }

  Index hidden_;
  Parameterisation parameterisation_;
  Initialisation initialisation_;
  RequestedWidths requested_;
  ShapeAfter shape_after_;
};

}  // namespace

std::string_view to_string(Parameterisation parameterisation) {
  return parameterisation_names[static_cast<std::size_t>(parameterisation)];
}
Parameterisation parse_parameterisation(std::string_view text) {
  return parse_choice<Parameterisation>("parameterisation", parameterisation_names, text);
}

std::string_view to_string(Initialisation initialisation) {
  return initialisation_names[static_cast<std::size_t>(initialisation)];
}
Initialisation parse_initialisation(std::string_view text) {
  return parse_choice<Initialisation>("initialisation", initialisation_names, text);
}

void WeightSlot::absorb_scales() {
  w_start *= w_scale;
  w_scale = 1.0;
  if (!biased()) return;
  b_start *= b_scale;
  b_scale = 1.0;
}

void Widths::validate() const {
  if (hidden < 1 || hidden > max_width || outputs < 1 || outputs > max_width) {
    fail(Code::usage, "width {} with {} outputs: both must lie between 1 and {}", hidden, outputs, max_width);
  }
  for (const Index width : layers) {
    if (width < 1 || width > max_width) fail(Code::usage, "width {}: it must lie between 1 and {}", width, max_width);
  }
  if (initialisation == Initialisation::pytorch && parameterisation != Parameterisation::standard) {
    fail(Code::usage, "PyTorch's initialisation requires the standard parameterisation; choose it, or uniform");
  }
}

void refuse_graphs(const std::string& place) {
  fail(Code::usage,
       "layer {} reads graphs, which networks of finite width do not support; use the kernel of the network", place);
}

Architecture Architecture::make(const Network& network, const Shape& input, const Widths& widths) {
  widths.validate();
  if (input.nodes) {
    fail(Code::usage, "networks of finite width do not take graphs; graph networks, such as gntk:4, have kernels only");
  }
  (void)infer_shapes(network, input);  // throws if the network is invalid for this input
  Architecture architecture;
  architecture.input = effective_input(network, input);
  const auto& last = network.layers.back().value;
  const bool readout = std::holds_alternative<Dense>(last) || std::holds_alternative<Conv>(last);
  Builder builder(network, widths);
  architecture.stages =
      builder.chain(network.layers, architecture.input, readout ? std::optional(widths.outputs) : std::nullopt, "");
  architecture.slots = std::move(builder.slots);
  architecture.dropouts = builder.dropouts;
  architecture.output = architecture.stages.back().out;
  return architecture;
}

bool Architecture::trains() const { return any_trained(slots); }

bool Architecture::ends_in_dense() const { return std::holds_alternative<Dense>(stages.back().layer.value); }

}  // namespace widelimit
