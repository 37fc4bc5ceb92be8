#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/network/activation.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace widelimit {

struct Layer;
/// Layers in order; the series composition of a series-parallel tree.
using Layers = std::vector<Layer>;

/// Rows × columns of a window or of its strides.
struct Extent {
  Index rows = 1;
  Index cols = 1;
  bool operator==(const Extent&) const = default;
};

enum class Padding : std::uint8_t { same, valid, circular };
[[nodiscard]] std::string_view to_string(Padding padding);  ///< "SAME", "VALID", "CIRCULAR"

/// z = (w_std/√fan_in)·W a + b_std·b; all entries of W, b ~ N(0,1), trained unless frozen.
///                                                                                      [docs/theory/kernels.md]
struct Dense {
  double w_std = 1.0;
  double b_std = 0.0;
  bool frozen = false;  ///< W and b keep their initial values
  bool operator==(const Dense&) const = default;
};

/// Convolution; divides by √(fan_in · window size).
struct Conv {
  Extent kernel{3, 3};
  Extent strides{1, 1};
  Padding padding = Padding::same;
  double w_std = 1.0;
  double b_std = 0.0;
  bool frozen = false;
  bool operator==(const Conv&) const = default;
};

enum class Pooling : std::uint8_t { average, sum, max };

/// avg_pool, sum_pool, max_pool. max_pool has no closed-form kernel: Monte Carlo only.
struct Pool {
  Pooling pooling = Pooling::average;
  Extent window{2, 2};
  Extent strides{2, 2};
  Padding padding = Padding::valid;
  bool operator==(const Pool&) const = default;
};

/// global_avg_pool, global_sum_pool (never max), over all positions or all nodes of a graph.
struct GlobalPool {
  Pooling pooling = Pooling::average;
  bool operator==(const GlobalPool&) const = default;
};

/// Concatenates positions into features.
struct Flatten {
  bool operator==(const Flatten&) const = default;
};

/// Layer normalisation over channels, without trained scale or shift.
struct LayerNorm {
  bool operator==(const LayerNorm&) const = default;
};

/// `rate` is the probability of keeping a value, as in the reference implementation.
struct Dropout {
  double rate = 0.5;
  bool operator==(const Dropout&) const = default;
};

/// Multiplies values by `by`: weights a branch, which keeps deep residual networks stable.
struct Scale {
  double by = 1.0;
  bool operator==(const Scale&) const = default;
};

/// Global self-attention, 1/d scaling, tied query and key weights, softmax, no positional embedding.
struct Attention {
  bool frozen = false;  ///< freezes query, key, value and output weights
  bool operator==(const Attention&) const = default;
};

/// Normalisation of the sum over the neighbourhood N(u) ∪ {u} of a node of a graph.
enum class NodeScale : std::uint8_t {
  degree,   ///< 1/|N(u) ∪ {u}|: the mean
  uniform,  ///< 1: the sum
};
[[nodiscard]] std::string_view to_string(NodeScale scale);  ///< "degree", "uniform"

/// h_u ← c_u Σ_{v ∈ N(u) ∪ {u}} h_v at every node u of a graph.                            [docs/theory/graphs.md]
struct Aggregate {
  NodeScale scale = NodeScale::degree;
  bool operator==(const Aggregate&) const = default;
};

/// branch(x) + shortcut(x); without a shortcut, branch(x) + x.
struct Residual {
  Layers branch;
  std::optional<Layers> shortcut;
  bool operator==(const Residual&) const;
};

/// One layer of a network. Code that processes networks visits the variant, so that the compiler reports every visitor
/// that does not handle a new alternative.
struct Layer {
  using Variant = std::variant<Dense, Conv, Activation, Pool, GlobalPool, Flatten, LayerNorm, Dropout, Scale, Attention,
                               Aggregate, Residual>;
  Variant value;

  template <typename T>
  requires std::constructible_from<Variant, T> Layer(T layer)
      : value(std::move(layer)) {}  // implicit, so that a layer can be written as its struct
  bool operator==(const Layer&) const;
};

}  // namespace widelimit
