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

/// The kernel of the machine that a network is compared with.
enum class MachineKernel : std::uint8_t {
  limit,  ///< the tangent kernel of infinite width
  start,  ///< the network's own tangent kernel before training, as EQ Theorem 3.5 has it
};
[[nodiscard]] std::string_view to_string(MachineKernel kernel);  ///< "limit", "start"
/// Error{usage} lists the choices.
[[nodiscard]] MachineKernel parse_machine_kernel(std::string_view text);

/// Networks of several widths and seeds, each beside the machine that its training has for a limit.
struct EquivalenceOptions {
  /// How both are trained. `width` and `centred` are not looked at; no momentum, no flow, NTK parameterisation.
  TrainOptions train;
  std::vector<Index> widths;  ///< different ones
  Index seeds = 1;            ///< networks of each width: train.seed, train.seed + 1, …
  MachineKernel kernel = MachineKernel::limit;
  /// Tell chance from movement: follow the machine of each network's own kernel before training as well. Only beside
  /// the kernel of the limit. Costs an empirical kernel and a descent for each network.
  bool parts = false;

  /// Error{usage} names what is wrong.
  void validate() const;
};

/// One network beside its machine. Distances are largest |f − g| over outputs and points.
struct EquivalenceRun {
  Index width = 0;
  std::uint64_t seed = 0;
  std::string trouble;          ///< why the network or the machine diverged or died; then there are no numbers
  double difference = 0;        ///< over recorded steps, training and test points
  double train_difference = 0;  ///< training points alone
  double test_difference = 0;   ///< test points alone, 0 where there are none
  double final_difference = 0;  ///< at the last step
  /// Where asked for, the two sides of a triangle: from the machine of the limit to that of the network's own kernel
  /// before training, and from there to the network, whose kernel moves.
  double kernel_part = 0;
  double movement_part = 0;
  double loss = 0;  ///< Σ l of the network at the end
  double machine_loss = 0;
  double weight_distance = 0;  ///< ‖w − w₀‖ at the end
  double seconds = 0;
};

/// Both along the training, for the first seed of a width.
struct EquivalencePath {
  Index width = 0;
  std::vector<double> difference;  ///< largest over points, by step
  std::vector<double> loss, machine_loss;
  Matrix<double> outputs, machine_outputs;  ///< moments × watched samples: their first output
};

/// Slope of log difference against log width between neighbouring widths, by the means of the logarithms.
struct WidthSlope {
  Index from = 0;
  Index to = 0;
  double slope = 0;
  std::optional<double> error;  ///< standard error; nothing where a width has one network
};

struct Equivalence {
  std::vector<Index> steps;    ///< recorded ones
  std::vector<Index> watched;  ///< training samples: the first, and the first with another target
  std::vector<EquivalenceRun> runs;
  std::vector<EquivalencePath> paths;
  std::vector<double> difference;  ///< by width: mean over seeds, of those that did not diverge
  std::optional<LineFit> slope;    ///< log difference against log width, every run a point
  std::optional<LineFit> final_slope;
  std::vector<WidthSlope> local_slopes;
  /// Probability that the logarithms bend as they do by chance alone; nothing without three widths and two seeds.
  std::optional<double> straightness;
  std::vector<double> kernel_part, movement_part;  ///< by width as `difference`; empty unless asked for
  std::optional<LineFit> kernel_slope, movement_slope;
  double rate = 0;  ///< of networks and machines; where none was given, the least that `train` takes for a width
  double kernel_seconds = 0;

  /// The first trouble of a run, naming its width and seed; empty where there is none.
  [[nodiscard]] std::string trouble() const;
  /// False where one slope does not describe all widths, at a level of 5 %.
  [[nodiscard]] bool settled() const { return !straightness || *straightness >= 0.05; }
};

/// Trains networks and machines on the same points by the same batches. What is compared is chosen so that it agrees in
/// the limit where there is one:                                                         [docs/theory/finite.md]
///   init, none: f − f₀ is trained, g(0) = 0, the machine of λ (0 for none): the limit is exact;
///   aux: f − f₀ and the machine of K + λI without λ, its outputs Kα: exact as well;
///   output, weights: f itself and the machine of λ with g(0) = f₀, decaying as EQ (9) says: EQ's claim as it stands.
/// Records are taken as often as TrainOptions::records says, within the memory of bounded_records; beside them memory
/// holds one network and the Gram matrix. Error{usage|input|resource} as train and gram; divergence is data.
[[nodiscard]] Equivalence equivalence(const Network& network, const TrainData& data, const EquivalenceOptions& options,
                                      const Engine& engine);

}  // namespace widelimit
