#pragma once

#include "widelimit/analysis/spectrum/kernel_spectrum.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace widelimit {

enum class LabelKind : std::uint8_t {
  given,   ///< those of the data
  random,  ///< a share of them replaced by chance
  worst,   ///< ±1 with a large yᵀK⁻¹y: labels that train slowly
};

/// Which labels a spectrum is asked about.
struct LabelChoice {
  LabelKind kind = LabelKind::given;
  double share = 1;  ///< random: probability that a label is replaced

  bool operator==(const LabelChoice&) const = default;
};
/// "true", "random", "random:0.3" or "worst". Error{usage} lists the choices.
[[nodiscard]] LabelChoice parse_label_choice(std::string_view text);
[[nodiscard]] std::string to_string(const LabelChoice& choice);

/// The labels of the data: classes 0 … classes − 1, or numbers where there are none. Borrowed.
struct GivenLabels {
  std::span<const Index> classes_of;
  Index classes = 0;
  MatrixView<const double> values = {};
};

/// Targets of a choice, samples × outputs: ±1 for two classes, a column of 0 and 1 for each of more.
///
/// random: each class becomes, with probability `share`, one drawn uniformly from all classes; among numbers those that
/// are chosen change places. A pure function of the seed; a larger share replaces all that a smaller one replaces.
/// worst: one column of ±1, whatever the classes. √n·v_n attains the largest yᵀK⁻¹y = n/λ_n over ‖y‖² = n; from its
/// rounding sign(v_n), NT-L's worst labels, the label whose change raises yᵀK⁻¹y most is changed until none does: v_n
/// may live on few samples, and its signs on the others mean nothing.  O(n³). Error{input} for labels that do not fit
/// the samples or fewer than two classes, Error{usage} for a share outside [0, 1].
[[nodiscard]] Matrix<double> label_targets(const LabelChoice& choice, const GivenLabels& given,
                                           const KernelSpectrum& spectrum, std::uint64_t seed);

}  // namespace widelimit
