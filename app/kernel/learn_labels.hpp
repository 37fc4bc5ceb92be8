#pragma once

#include "app/shell/options.hpp"

#include "widelimit/data/request.hpp"
#include "widelimit/kernel/file/gram_writer.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"
#include "widelimit/kernel/request.hpp"

#include <cstddef>
#include <string>

/// `kernel --label-aware`: the kernel of an answer turned into one that knows labels.
namespace widelimit::app {

/// Error{usage} where there is not one Gram matrix, by formulas; `kept` where --resume or --force is given.
void check_label_aware(const KernelRequest& request, std::size_t networks, bool kept);
/// Error{usage} where --gram is given, but not `wanted` by --label-aware into an HDF5 file.
void check_gram(bool given, bool wanted);
/// Error{input} where samples have none.
void require_classes(const Dataset& train);

/// In place, and under another name, so that no machine takes it for the kernel of the network. Up to 4,000 samples its
/// spectrum is told, too.
[[nodiscard]] LabelAwareKernels learn_labels(const CommonOptions& common, const LabelAwareOptions& asked,
                                             KernelAnswer& answer, const TrainTest& data, const Engine& engine);

/// Where Θ is read and the label-aware kernel is written.
struct FileToFile {
  std::string gram;
  std::string out;
  Existing existing = Existing::refuse;
  nlohmann::ordered_json settings;  ///< of the kernel, for the file and the record
};

/// `kernel --label-aware --gram`: tile by tile, from the checks of the stored kernel to the last line printed.
void learn_labels_stored(const CommonOptions& common, const LabelAwareOptions& asked, const KernelRequest& request,
                         const FileToFile& files, const TrainTest& data, const Engine& engine);

}  // namespace widelimit::app
