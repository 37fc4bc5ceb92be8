#pragma once

#include "app/shell/options.hpp"

#include "widelimit/data/request.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"
#include "widelimit/kernel/request.hpp"

#include <cstddef>

/// `kernel --label-aware`: the kernel of an answer turned into one that knows labels.
namespace widelimit::app {

/// Error{usage} where there is not one Gram matrix, by formulas; `kept` where --resume or --force is given.
void check_label_aware(const KernelRequest& request, std::size_t networks, bool kept);
/// Error{input} where samples have none.
void require_classes(const Dataset& train);

/// In place, and under another name, so that no machine takes it for the kernel of the network. Up to 4,000 samples its
/// spectrum is told, too.
[[nodiscard]] LabelAwareKernels learn_labels(const CommonOptions& common, const LabelAwareOptions& asked,
                                             KernelAnswer& answer, const TrainTest& data, const Engine& engine);

}  // namespace widelimit::app
