#pragma once

#include "widelimit/finite/tensor.hpp"
#include "widelimit/network/layer.hpp"

namespace widelimit {

/// Average (over the whole window, zeros over the edge included, as the kernel has it), sum, or maximum (of the
/// places inside). Each channel alone.
[[nodiscard]] Tensor pool(const Pool& layer, const Tensor& input);
/// Signal at the input of a pool; a maximum sends it to the first place that attains it.
[[nodiscard]] Tensor pool_signal(const Pool& layer, const Tensor& input, const Tensor& signal);

[[nodiscard]] Tensor global_pool(const GlobalPool& layer, const Tensor& input);
[[nodiscard]] Tensor global_pool_signal(const GlobalPool& layer, const Shape& in, const Tensor& signal);

}  // namespace widelimit
