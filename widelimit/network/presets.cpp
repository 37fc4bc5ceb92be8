#include "widelimit/network/presets.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/network/forms.hpp"
#include "widelimit/network/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numbers>
#include <utility>

namespace widelimit {

namespace {

using std::numbers::sqrt2;

Layer activation(const PresetOptions& options) { return find_form(options.activation)->prototype; }

Dense dense(const PresetOptions& options) { return {.w_std = options.w_std, .b_std = options.b_std}; }

Conv conv(const PresetOptions& options, Index stride = 1) {
  return {.kernel = options.kernel, .strides = {stride, stride}, .w_std = options.w_std, .b_std = options.b_std};
}

void append(Layers& layers, const Layers& more, Index times = 1) {
  for (Index i = 0; i < times; ++i) layers.insert(layers.end(), more.begin(), more.end());
}

/// L hidden layers and the readout.
Layers fully_connected(const PresetOptions& options) {
  if (options.frozen > options.depth + 1) {
    fail(Code::input, "preset 'fc:{}' has {} weight layers and cannot freeze its first {}", options.depth,
         options.depth + 1, options.frozen);
  }
  Layers layers;
  for (Index layer = 0; layer <= options.depth; ++layer) {
    Dense weights = dense(options);
    weights.frozen = layer < options.frozen;
    layers.push_back(weights);
    if (layer < options.depth) layers.push_back(activation(options));
  }
  return layers;
}

/// Two-layer network of EQ, f(x) = (1/√m) Σ v_j relu(⟨w_j, x⟩/√d).                        [docs/theory/kernels.md]
Layers equivalence_net(const PresetOptions&) { return {Dense{}, Activation{}, Dense{}}; }

/// The convolutional NTK of Arora et al. 2019: L convolutions and one readout, called depth L + 1 in that paper, which
/// freezes the first convolution and the readout if global pooling is used.
Layers convolutional(const PresetOptions& options) {
  Conv first = conv(options);
  Dense readout = dense(options);
  first.frozen = readout.frozen = options.frozen_ends == "true";
  Layers layers{first, activation(options)};
  append(layers, {conv(options), activation(options)}, options.depth - 1);
  layers.push_back(options.readout == "pool" ? Layer(GlobalPool{}) : Layer(Flatten{}));
  layers.push_back(readout);
  return layers;
}

/// LeNet-5 (LeCun et al. 1998) with average pooling and ReLU: on 32×32 images its third convolution covers the whole
/// 5×5 grid and is therefore written as the first of three dense layers.
Layers lenet(const PresetOptions& options) {
  const Conv filter{.kernel = {5, 5}, .padding = Padding::valid, .w_std = options.w_std, .b_std = options.b_std};
  Layers layers;
  append(layers, {filter, activation(options), Pool{}}, 2);
  layers.push_back(Flatten{});
  append(layers, {dense(options), activation(options)}, 2);
  layers.push_back(dense(options));
  return layers;
}

/// Shankar et al. 2020: three blocks of convolutions, each followed by 2×2 pooling, and two further poolings that
/// reduce a 32×32 image to one position.
Layers myrtle(const PresetOptions& options, const std::array<Index, 3>& blocks) {
  Layers layers;
  for (const Index convolutions : blocks) {
    append(layers, {conv(options), Activation{}}, convolutions);
    layers.push_back(Pool{});
  }
  append(layers, {Pool{}, Pool{}, Flatten{}, dense(options)});
  return layers;
}

/// The eight-layer network of the label-aware NTK (LA), as in the reference implementation: stride 2 in convolutions 4
/// and 6.
Layers label_aware(const PresetOptions& options) {
  Layers layers;
  for (const Index stride : {1, 1, 1, 2, 1, 2}) append(layers, {conv(options, stride), Activation{}});
  append(layers, {conv(options), Flatten{}, dense(options)});
  return layers;
}

/// Wide residual network (Zagoruyko and Komodakis 2016) without normalisation. The first block of a group has a
/// convolution as shortcut, since it changes channels and grid.
Layers residual_net(const PresetOptions& options) {
  const Layer relu = Activation{};
  Layers layers{conv(options)};
  for (const Index stride : {1, 2, 2}) {
    const Layers first{relu, conv(options, stride), relu, conv(options)};
    layers.push_back(Residual{.branch = first, .shortcut = Layers{conv(options, stride)}});
    append(layers, {Residual{.branch = {relu, conv(options), relu, conv(options)}, .shortcut = {}}}, options.depth - 1);
  }
  append(layers, {GlobalPool{}, dense(options)});
  return layers;
}

/// The graph NTK of Du et al. 2019: `depth` − 1 blocks, each an aggregation and `mlp` fully connected layers. The
/// readout is the sum over nodes after the last block or, with jumping knowledge, of the input and after every block,
/// each with separate weights.                                                            [docs/theory/graphs.md]
Layers graph_network(const PresetOptions& options) {
  const NodeScale scale = options.scale == "uniform" ? NodeScale::uniform : NodeScale::degree;
  Layers block{Aggregate{scale}};
  append(block, {dense(options), activation(options)}, options.mlp);
  const Layers readout{GlobalPool{Pooling::sum}, dense(options)};
  Layers layers;
  if (options.jk == "true") {
    layers = readout;
    for (Index k = 1; k < options.depth; ++k) {
      Layers rest = block;
      append(rest, layers);
      layers = {Residual{.branch = readout, .shortcut = std::move(rest)}};
    }
  } else {
    append(layers, block, options.depth - 1);
    append(layers, readout);
  }
  return layers;
}

template <typename T>
PresetArgument argument(std::string_view name, T PresetOptions::*member, Bounds range,
                        std::vector<std::string_view> choices = {}) {
  return {.parameter = {.name = name, .type = Value(T{}).index(), .range = range, .choices = std::move(choices)},
          .get = [member](const PresetOptions& options) { return Value(options.*member); },
          .set = [member](PresetOptions& options, Value value) { options.*member = std::get<T>(std::move(value)); }};
}

Parameter depth(Index low, Index high) {
  return {.name = "depth",
          .type = Value(Index{}).index(),
          .range = {static_cast<double>(low), static_cast<double>(high), false},
          .choices = {}};
}

/// Activations without required arguments.
std::vector<std::string_view> plain_activations() {
  std::vector<std::string_view> names;
  for (const Form& form : forms()) {
    const bool needs = std::any_of(form.arguments.begin(), form.arguments.end(),
                                   [](const Argument& a) { return a.absent == Absent::required; });
    if (std::holds_alternative<Activation>(form.prototype.value) && !needs) names.push_back(form.name);
  }
  return names;
}

std::vector<Preset> make_presets() {
  const auto w_std = argument("w_std", &PresetOptions::w_std, {.low = 0});
  const auto b_std = argument("b_std", &PresetOptions::b_std, {.low = 0});
  const auto phi = argument("activation", &PresetOptions::activation, {}, plain_activations());
  const auto kernel = argument("kernel", &PresetOptions::kernel, {.low = 1, .high = 4095});
  const auto readout = argument("readout", &PresetOptions::readout, {}, {"pool", "flatten"});
  const auto frozen = argument("frozen", &PresetOptions::frozen, {.low = 0, .high = 10'001});
  const auto frozen_ends = argument("frozen_ends", &PresetOptions::frozen_ends, {}, {"true", "false"});
  const auto mlp = argument("mlp", &PresetOptions::mlp, {.low = 1, .high = 100});
  const auto scale = argument("scale", &PresetOptions::scale, {}, {"degree", "uniform"});
  const auto jk = argument("jk", &PresetOptions::jk, {}, {"true", "false"});
  const PresetOptions plain;
  PresetOptions he;  // He initialisation, preserves the variance in ReLU layers
  he.w_std = sqrt2;
  const auto myrtle_net = [](std::array<Index, 3> blocks) {
    return [blocks](const PresetOptions& options) { return myrtle(options, blocks); };
  };
  return {
      {"fc",
       "fully connected, L hidden layers, the first `frozen` weight layers untrained",
       depth(0, 10'000),
       plain,
       {w_std, b_std, phi, frozen},
       fully_connected},
      {"eq2", "two-layer ReLU network of the equivalence paper", {}, plain, {}, equivalence_net},
      {"cntk",
       "L convolutions, then global average pooling or flatten; frozen_ends: first and last layer untrained",
       depth(1, 10'000),
       he,
       {readout, w_std, b_std, kernel, phi, frozen_ends},
       convolutional},
      {"lenet5", "LeNet-5 with average pooling", {}, he, {w_std, b_std, phi}, lenet},
      {"myrtle5", "Myrtle network for 32x32 images, 5 layers", {}, he, {w_std, b_std}, myrtle_net({2, 1, 1})},
      {"myrtle7", "Myrtle network for 32x32 images, 7 layers", {}, he, {w_std, b_std}, myrtle_net({2, 2, 2})},
      {"myrtle10", "Myrtle network for 32x32 images, 10 layers", {}, he, {w_std, b_std}, myrtle_net({3, 3, 3})},
      {"lantk_cnn8", "eight-layer CNN of the label-aware NTK", {}, plain, {w_std, b_std}, label_aware},
      {"resnet",
       "wide residual network, three groups of N blocks, strides 1, 2, 2",
       depth(1, 1'000),
       he,
       {w_std, b_std},
       residual_net},
      {"gntk",
       "graph neural network of N - 1 blocks: aggregation, then mlp layers; jk: jumping knowledge",
       depth(2, max_nesting),
       he,
       {mlp, scale, jk, w_std, b_std, phi},
       graph_network},
  };
}

}  // namespace

std::string Preset::usage() const {
  std::vector<std::string> written;
  for (const PresetArgument& argument : arguments) {
    written.push_back(fmt::format("{}={}", argument.parameter.name, write_value(argument.get(defaults))));
  }
  return fmt::format("{}{}{}", name, depth ? ":N" : "",
                     written.empty() ? "" : fmt::format("({})", fmt::join(written, ", ")));
}

const std::vector<Preset>& list_presets() {
  static const std::vector<Preset> all = make_presets();
  return all;
}

const Preset* find_preset(std::string_view name) {
  const auto& all = list_presets();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Preset& preset) { return preset.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace widelimit
