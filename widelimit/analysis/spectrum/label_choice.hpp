#pragma once

#include "widelimit/analysis/spectrum/kernel_spectrum.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace widelimit {

enum class LabelKind : std::uint8_t {
  given,   ///< labels of the data
  random,  ///< a random fraction of them replaced
  worst,   ///< ±1 with a large yᵀK⁻¹y: labels that are learned slowly
};

/// Choice of labels for a spectrum.
struct LabelChoice {
  LabelKind kind = LabelKind::given;
  double share = 1;  ///< random: probability that a label is replaced

  bool operator==(const LabelChoice&) const = default;
};
/// Parses "true", "random", "random:0.3" or "worst". Throws Error{usage} with the valid forms.
[[nodiscard]] LabelChoice parse_label_choice(std::string_view text);
[[nodiscard]] std::string to_string(const LabelChoice& choice);

/// Labels of the data: classes 0 … classes − 1, or regression targets if `classes_of` is empty. Not owned.
struct GivenLabels {
  std::span<const Index> classes_of;
  Index classes = 0;
  MatrixView<const double> values = {};
};

/// Returns the targets of a choice, samples × outputs: ±1 for two classes, one-hot columns for more.
///
/// random: each class is replaced, with probability `share`, by one drawn uniformly from all classes; regression
/// targets chosen with that probability are permuted. A pure function of the seed; a larger share replaces a superset.
/// worst: one column of ±1 for any number of classes. √n·v_n maximises yᵀK⁻¹y over ‖y‖² = n, with the value n/λ_n.
/// Greedy local search from its rounding sign(v_n), NT-L's worst labels: flips the label that increases yᵀK⁻¹y most
/// until none does, since v_n can be localised on few samples, which leaves the other signs arbitrary. O(n³). Throws
/// Error{input} for mismatched sizes or fewer than two classes, Error{usage} for a share outside [0, 1].
[[nodiscard]] Matrix<double> label_targets(const LabelChoice& choice, const GivenLabels& given,
                                           const KernelSpectrum& spectrum, std::uint64_t seed);

}  // namespace widelimit
