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

/// NT-L Theorem 4: true, random and worst labels in the eigendirections of the kernel on MNIST and CIFAR-10, predicted
/// loss beside that of a wide network.
[[nodiscard]] Experiment spectrum_labels();

/// NT-L's bound √(2yᵀH⁻¹y/n) beside the test error, by the share of random labels.
[[nodiscard]] Experiment label_complexity();

/// NT-L Lemmas 2 and 3: ‖H(0) − H*‖, ‖H(t) − H(0)‖ and the movement of weights by width.
[[nodiscard]] Experiment lemmas();

/// LA Theorem 2.1: the error of the tangent kernel at a time of training, expanded to K⁽⁴⁾, by width.
[[nodiscard]] Experiment nth_error();

/// LA Lemma 2.2: label-aware terms by the number of labels that they depend on.
[[nodiscard]] Experiment hoeffding_decomposition();

/// LA Table 1: label-aware kernels, their tangent kernel and a convolutional network on pairs of classes of CIFAR-10.
[[nodiscard]] Experiment lantk_table1();

/// LA Table 2: the same on all ten classes, by the number of training images.
[[nodiscard]] Experiment lantk_table2();

/// LA Table 3: local elasticity of two-layer networks before and after training, of their kernel and a label-aware one.
[[nodiscard]] Experiment lantk_table3();

/// LA Figure 1: accuracy and local elasticity of the kernel of a network along training.
[[nodiscard]] Experiment la_figure1();

/// NT-L, chaotic transient (Fort et al. 2020): kernel distance and velocity of convolutional networks on CIFAR-10,
/// tangent training and error barriers by checkpoint.
[[nodiscard]] Experiment chaotic_transient();

/// NT-L Theorem 7 (Seleznova and Kutyniok 2022): the change of the NTK by one step, by the variance of weights, depth
/// and width.
[[nodiscard]] Experiment ntk_phases();

/// NT-L, changes of the NTK structure: class means of the kernel of deep networks along their training on MNIST.
[[nodiscard]] Experiment ntk_structure();

}  // namespace widelimit::experiment
