#pragma once

#include "widelimit/analysis/equivalence/line_fit.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/training/train.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Kernel of the machine that a network is compared with.
enum class MachineKernel : std::uint8_t {
  limit,  ///< the infinite-width tangent kernel
  start,  ///< the network's tangent kernel at initialisation, as in EQ Theorem 3.5
};
[[nodiscard]] std::string_view to_string(MachineKernel kernel);  ///< "limit", "start"
/// Throws Error{usage} with the valid names.
[[nodiscard]] MachineKernel parse_machine_kernel(std::string_view text);

/// Options of a comparison of networks of several widths and seeds with the machine that is the limit of their
/// training.
struct EquivalenceOptions {
  /// Training options of both. `width` and `centred` are ignored; no momentum, no flow, NTK parameterisation.
  TrainOptions train;
  std::vector<Index> widths;  ///< distinct
  Index seeds = 1;            ///< networks per width: train.seed, train.seed + 1, …
  MachineKernel kernel = MachineKernel::limit;
  /// Separates random initialisation from kernel movement: also trains the machine of each network's kernel at
  /// initialisation. Only with MachineKernel::limit. Costs an empirical kernel and a descent per network.
  bool parts = false;

  /// Throws Error{usage} if an option is invalid.
  void validate() const;
};

/// Comparison of one network with its machine. Distances are the largest |f − g| over outputs and points.
struct EquivalenceRun {
  Index width = 0;
  std::uint64_t seed = 0;
  std::string trouble;          ///< why the network or the machine failed; the numbers are then not set
  double difference = 0;        ///< over recorded steps, training and test points
  double train_difference = 0;  ///< training points only
  double test_difference = 0;   ///< test points only; 0 if there are none
  double final_difference = 0;  ///< at the last step
  /// If `parts`: distance between the machines of the limit kernel and of the kernel at initialisation (kernel_part),
  /// and from the latter to the network, whose kernel changes (movement_part).
  double kernel_part = 0;
  double movement_part = 0;
  double loss = 0;  ///< final Σ l of the network
  double machine_loss = 0;
  double weight_distance = 0;  ///< final ‖w − w₀‖
  double seconds = 0;
};

/// Training curves of network and machine, for the first seed of a width.
struct EquivalencePath {
  Index width = 0;
  std::vector<double> difference;  ///< largest over points, per step
  std::vector<double> loss, machine_loss;
  Matrix<double> outputs, machine_outputs;  ///< steps × watched samples: first output
};

/// Slope of mean log difference against log width between adjacent widths.
struct WidthSlope {
  Index from = 0;
  Index to = 0;
  double slope = 0;
  std::optional<double> error;  ///< standard error; empty if a width has only one network
};

struct Equivalence {
  std::vector<Index> steps;    ///< recorded steps
  std::vector<Index> watched;  ///< training samples: the first, and the first with a different target
  std::vector<EquivalenceRun> runs;
  std::vector<EquivalencePath> paths;
  std::vector<double> difference;  ///< per width: mean over the seeds that did not diverge
  std::optional<LineFit> slope;    ///< log difference against log width, one point per run
  std::optional<LineFit> final_slope;
  std::vector<WidthSlope> local_slopes;
  /// p-value of the lack-of-fit test of a straight line through the logarithms; empty without three widths and two
  /// seeds.
  std::optional<double> straightness;
  std::vector<double> kernel_part, movement_part;  ///< per width like `difference`; empty unless requested
  std::optional<LineFit> kernel_slope, movement_slope;
  double rate = 0;  ///< learning rate of networks and machines; default: the smallest default rate over the widths
  double kernel_seconds = 0;

  /// Returns the first failure with its width and seed; empty if there is none.
  [[nodiscard]] std::string trouble() const;
  /// Returns false if the hypothesis of one slope for all widths is rejected at the 5 % level.
  [[nodiscard]] bool settled() const { return !straightness || *straightness >= 0.05; }
};

/// Trains networks and machines on the same points with the same batches. The compared functions are chosen so that
/// they agree in the limit of infinite width, if it exists [docs/theory/finite.md]:
///   init, none: f − f₀ is trained, g(0) = 0, the machine of λ (0 for none): the limit is exact;
///   aux: f − f₀ and the machine of K + λI without λ, its outputs Kα: also exact;
///   output, weights: f itself and the machine of λ with g(0) = f₀, decaying as in EQ (9): EQ's claim as stated.
/// The recording interval follows TrainOptions::records within the memory of bounded_records; in addition, one network
/// and the Gram matrix are in memory. Throws Error{usage|input|resource} as train and gram; divergence is recorded in
/// the result.
[[nodiscard]] Equivalence equivalence(const Network& network, const TrainData& data, const EquivalenceOptions& options,
                                      const Engine& engine);

/// Computes means, slopes and straightness over the runs, except those that diverged. Every run is one point of the
/// line fit, so that seeds of one width show the random variation.
void summarise_by_width(Equivalence& result, const std::vector<Index>& widths, bool parts);

}  // namespace widelimit
