#pragma once

#include "experiments/experiment.hpp"

/// The experiments, one source each.
namespace widelimit::experiment {

/// Test accuracy of the seven machines of EQ Table 1 on MNIST 0 and 1, beside EQ Table 3 (and the 99.95 % of Table 2),
/// and of ridge and SVM on all ten digits, for which EQ has no figure.
[[nodiscard]] Experiment mnist_machines();

/// EQ Figures 1 and A.1: outputs and hinge loss of networks and the SVM while they are trained on MNIST 0 and 1.
[[nodiscard]] Experiment equivalence_figure();

/// EQ Theorem 3.5: the difference of network and machine by width, for each regulariser and loss, and by λ.
[[nodiscard]] Experiment width_scaling();

/// EQ Theorem 4.1 on MNIST 0 and 1: the difference between a trained network and its kernel machine by the size of the
/// steps, over one time; EQ states equality for the flow.
[[nodiscard]] Experiment every_net_is_a_kernel_machine();

/// Networks trained on partly wrong labels, regularised by the distance to initialisation (RDI) or by an
/// auxiliary variable a sample (AUX), beside their common limit of infinite width, k(x,X)(H + λI)⁻¹ỹ.
[[nodiscard]] Experiment noisy_labels_rdi_aux();

/// The same on all ten classes of MNIST and CIFAR-10 with small CNNs, squared loss and cross-entropy, beside early
/// stopping, kernel ridge regression and NT-L's table.
[[nodiscard]] Experiment noisy_labels_cnn();

/// EQ Table 2: certified radii of two-layer networks by interval bound propagation, which fall as the root of the
/// width, beside the machine they become.
[[nodiscard]] Experiment certificates_table2();

/// EQ Table 3: certified ℓ∞ radii of kernel regression, ridge and SVM on MNIST 0 and 1, the published ones beside those
/// of every method and beside an attack.
[[nodiscard]] Experiment certificates_table3();

/// EQ §4.1 and NT-L's bounds on two digits of MNIST, true labels against random ones, beside the test error.
[[nodiscard]] Experiment generalisation_bounds();

/// Arora et al. 2020, Table 1 (in NT-L): support vector machines on tangent kernels and others on 90 small UCI sets, by
/// the partitions of the original benchmark.
[[nodiscard]] Experiment uci_90();

/// Arora et al. 2019, Table 1: kernel regression on convolutional tangent kernels of CIFAR-10 by depth, with and
/// without global average pooling, beside ridge and SVM with a chosen λ and beside other networks.
[[nodiscard]] Experiment cntk_cifar10();

/// Du et al. 2019, Table 1: support vector machines on graph neural tangent kernels, the best of all configurations
/// beside nested selection.
[[nodiscard]] Experiment gntk();

}  // namespace widelimit::experiment
