#pragma once

/// \file The front door: everything a user of the library needs. What it includes, directly or not, is the public
/// interface and the only thing that is installed; the other headers may change with any version.

// Data, and networks as values.
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/fetch/fetch.hpp"
#include "widelimit/data/labels/folds.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/network/network.hpp"
#include "widelimit/network/weight_std.hpp"

// Where work happens, and kernels of networks of infinite width.
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/kernel/network_gram.hpp"

// Machines: data to a fitted model in one call, or each solver by itself.
#include "widelimit/machine/fit_data.hpp"
#include "widelimit/machine/logistic/logistic.hpp"
#include "widelimit/machine/logistic/softmax.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/model.hpp"
#include "widelimit/machine/model_file.hpp"
#include "widelimit/machine/posterior_factor.hpp"
#include "widelimit/machine/probability/probability.hpp"
#include "widelimit/machine/ridge/conjugate_gradient.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"
#include "widelimit/machine/ridge/marginal_likelihood.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/ridge/ridge_path.hpp"
#include "widelimit/machine/svm/svm.hpp"
#include "widelimit/machine/svm/svr.hpp"
#include "widelimit/machine/tune.hpp"

// Bounds, comparison, dynamics and certificates of machines.
#include "widelimit/analysis/bounds/label_bound.hpp"
#include "widelimit/analysis/bounds/rademacher_bound.hpp"
#include "widelimit/analysis/comparison/compare.hpp"
#include "widelimit/analysis/dynamics/descend.hpp"
#include "widelimit/analysis/dynamics/ensemble.hpp"
#include "widelimit/analysis/dynamics/flow.hpp"
#include "widelimit/analysis/evolution/evolution.hpp"
#include "widelimit/analysis/hierarchy/hoeffding.hpp"
#include "widelimit/analysis/hierarchy/kernel_at_time.hpp"
#include "widelimit/analysis/hierarchy/nth_kernel.hpp"
#include "widelimit/analysis/local_elasticity.hpp"
#include "widelimit/analysis/rank_comparison.hpp"
#include "widelimit/analysis/scores.hpp"
#include "widelimit/analysis/spectrum.hpp"
#include "widelimit/analysis/spectrum/kernel_spectrum.hpp"
#include "widelimit/analysis/spectrum/label_choice.hpp"
#include "widelimit/analysis/spectrum/label_spectrum.hpp"
#include "widelimit/analysis/spectrum/mode_dynamics.hpp"
#include "widelimit/certificate/certify.hpp"

// Networks of finite width.
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/tangent/step_kernel.hpp"
#include "widelimit/finite/training/train.hpp"
