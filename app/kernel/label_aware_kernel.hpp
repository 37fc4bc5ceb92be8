#pragma once

#include "app/shell/options.hpp"

#include "widelimit/data/request.hpp"
#include "widelimit/kernel/file/gram_writer.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"
#include "widelimit/kernel/request.hpp"

#include <cstddef>
#include <string>

/// `kernel --label-aware`: adds an estimate from labels to a kernel.
namespace widelimit::app {

/// Throws Error{usage} unless the request is one Gram matrix by formulas, and if `kept` (--resume or --force).
void check_label_aware(const KernelRequest& request, std::size_t networks, bool kept);
/// Throws Error{usage} if --gram is given, but not `wanted` by --label-aware into an HDF5 file.
void check_gram(bool given, bool wanted);
/// Throws Error{input} if the samples have no classes.
void require_classes(const Dataset& train);

/// Replaces the matrices of `answer` by label-aware ones. They are renamed, so that no machine uses them as the kernel
/// of the network. For up to 4,000 samples the spectrum is reported as well.
[[nodiscard]] LabelAwareKernels apply_label_aware(const CommonOptions& common, const LabelAwareOptions& options,
                                                  KernelResult& answer, const TrainTest& data, const Engine& engine);

/// Files of Θ and of the label-aware kernel.
struct LabelAwareFiles {
  std::string gram;
  std::string out;
  Existing existing = Existing::refuse;
  nlohmann::ordered_json settings;  ///< settings of the kernel, for the file and the record
};

/// Runs `kernel --label-aware --gram` tile by tile, including the checks of the stored kernel and the output.
void apply_label_aware_stored(const CommonOptions& common, const LabelAwareOptions& options,
                              const KernelRequest& request, const LabelAwareFiles& files, const TrainTest& data,
                              const Engine& engine);

}  // namespace widelimit::app
