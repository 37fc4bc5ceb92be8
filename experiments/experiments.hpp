#pragma once

#include "experiments/experiment.hpp"

/// The experiments, one source file each.
namespace widelimit::experiment {

/// Test accuracy of the seven machines of EQ Table 1 on MNIST 0 and 1, compared with EQ Table 3 (and the 99.95 % of
/// Table 2), and of ridge and SVM on all ten digits, for which EQ has no numbers.
[[nodiscard]] Experiment mnist_machines();

/// EQ Figures 1 and A.1: outputs and hinge loss of networks and the SVM during training on MNIST 0 and 1.
[[nodiscard]] Experiment equivalence_figure();

/// EQ Theorem 3.5: the difference of network and machine as a function of width, for each regulariser and loss, and of
/// λ.
[[nodiscard]] Experiment width_scaling();

/// EQ Theorem 4.1 on MNIST 0 and 1: the difference between a trained network and its kernel machine as a function of
/// the step size, for a fixed time; EQ states equality for the flow.
[[nodiscard]] Experiment every_net_is_a_kernel_machine();

/// Networks trained on partly wrong labels, regularised by the distance to initialisation (RDI) or by one auxiliary
/// variable per sample (AUX), compared with their common infinite-width limit k(x,X)(H + λI)⁻¹ỹ.
[[nodiscard]] Experiment noisy_labels_rdi_aux();

/// The same on all ten classes of MNIST and CIFAR-10 with small CNNs, squared loss and cross-entropy, compared with
/// early stopping, kernel ridge regression and the table of NT-L.
[[nodiscard]] Experiment noisy_labels_cnn();

/// EQ Table 2: certified radii of two-layer networks by interval bound propagation, which decay as m^(−1/2) in the
/// width m, compared with the machine of the limit.
[[nodiscard]] Experiment certificates_table2();

/// EQ Table 3: certified ℓ∞ radii of kernel regression, ridge and SVM on MNIST 0 and 1, of all methods, compared with
/// the published radii and an attack.
[[nodiscard]] Experiment certificates_table3();

/// Generalisation bounds of EQ §4.1 and NT-L on two digits of MNIST, true and random labels, compared with the test
/// error.
[[nodiscard]] Experiment generalisation_bounds();

/// Arora et al. 2020, Table 1 (in NT-L): support vector machines with NTKs and other kernels on 90 small UCI data sets,
/// with the partitions of the original benchmark.
[[nodiscard]] Experiment uci_90();

/// Arora et al. 2019, Table 1: kernel regression with CNTKs on CIFAR-10 by depth, with and without global average
/// pooling, compared with tuned ridge and SVM and with other networks.
[[nodiscard]] Experiment cntk_cifar10();

/// Du et al. 2019, Table 1: support vector machines with graph NTKs; the best of all configurations and nested
/// selection.
[[nodiscard]] Experiment gntk();

/// NT-L Theorem 4: projections of true, random and worst labels on the eigenvectors of the kernel on MNIST and
/// CIFAR-10, and the predicted loss compared with that of a wide network.
[[nodiscard]] Experiment spectrum_labels();

/// The bound √(2yᵀH⁻¹y/n) of NT-L and the test error, as functions of the fraction of random labels.
[[nodiscard]] Experiment label_complexity();

/// NT-L Lemmas 2 and 3: ‖H(0) − H*‖, ‖H(t) − H(0)‖ and the movement of weights as functions of the width.
[[nodiscard]] Experiment lemmas();

/// LA Theorem 2.1: the error of the expansion of the NTK at a training time up to K⁽⁴⁾, as a function of the width.
[[nodiscard]] Experiment nth_error();

/// LA Lemma 2.2: Hoeffding decomposition of label-aware terms by the number of labels they depend on.
[[nodiscard]] Experiment hoeffding_decomposition();

/// LA Table 1: label-aware kernels, their NTK and a convolutional network on pairs of classes of CIFAR-10.
[[nodiscard]] Experiment lantk_table1();

/// LA Table 2: the same on all ten classes, as a function of the number of training images.
[[nodiscard]] Experiment lantk_table2();

/// LA Table 3: local elasticity of two-layer networks before and after training, of their NTK and a label-aware kernel.
[[nodiscard]] Experiment lantk_table3();

/// LA Figure 1: accuracy and local elasticity of the empirical NTK of a network during training.
[[nodiscard]] Experiment la_figure1();

/// NT-L, chaotic transient (Fort et al. 2020): kernel distance and velocity of convolutional networks on CIFAR-10,
/// tangent training and error barriers of each checkpoint.
[[nodiscard]] Experiment chaotic_transient();

/// NT-L Theorem 7 (Seleznova and Kutyniok 2022): the change of the NTK by one training step, as a function of weight
/// variance, depth and width.
[[nodiscard]] Experiment ntk_phases();

/// NT-L, changes of the NTK structure: class means of the NTK of deep networks during training on MNIST.
[[nodiscard]] Experiment ntk_structure();

}  // namespace widelimit::experiment
