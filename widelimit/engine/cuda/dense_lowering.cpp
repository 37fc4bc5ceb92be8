#include "widelimit/engine/cuda/dense_lowering.hpp"

#include "widelimit/engine/cpu/vector/apply.hpp"
#include "widelimit/recipe/rectified_monomial.hpp"

#include <algorithm>
#include <numbers>

namespace widelimit::cuda {

namespace {

/// J_n/(π(2n−1)!!) and n²J_{n−1}/(π(2n−1)!!): A and B, then those of the slope, n + 1 coefficients each.
std::vector<double> arc_cosine_constants(int n) {
  const double scale = 1.0 / (std::numbers::pi * odd_factorial(n));
  const ArccosinePolynomials j = arccosine_polynomials(n);
  const ArccosinePolynomials slope = arccosine_polynomials(n - 1);
  std::vector<double> constants;
  const auto append = [&](std::vector<double> run, double factor) {
    run.resize(static_cast<std::size_t>(n) + 1, 0.0);
    for (const double c : run) constants.push_back(c * factor);
  };
  append(j.a, scale);
  append(j.b, scale);
  append(slope.a, scale * n * n);
  append(slope.b, scale * n * n);
  return constants;
}

void lower_dual(const Dual& dual, DenseStep& step, std::vector<double>& constants) {
  step.phi = dual.phi;
  step.degree = dual.degree;
  if (const auto slope = cpu::rectifier_slope(dual)) {
    const double norm = 1 + *slope * *slope;
    step.op = DenseOp::rectifier;
    step.a = 2 * *slope / norm;
    step.b = (1 - *slope) * (1 - *slope) / norm;
    return;
  }
  switch (dual.phi) {
    case Phi::erf:
      step.op = DenseOp::erf;
      break;
    case Phi::gelu:
      step.op = DenseOp::gelu;
      break;
    case Phi::gaussian:
      step.op = DenseOp::gaussian;
      break;
    case Phi::exp:
    case Phi::rbf:
      step.op = DenseOp::radial;
      step.a = dual.phi == Phi::exp ? 0.5 : dual.parameter;
      break;
    case Phi::sin:
      step.op = DenseOp::sine;
      break;
    case Phi::cos:
      step.op = DenseOp::cosine;
      break;
    case Phi::sign:
      step.op = DenseOp::sign;
      break;
    case Phi::hermite:
      step.op = DenseOp::power;
      break;
    case Phi::rectified_monomial:
      step.op = dual.degree == 0 ? DenseOp::step_function : DenseOp::arc_cosine;
      if (dual.degree > 0) {
        step.first_constant = static_cast<std::int32_t>(constants.size());
        const std::vector<double> own = arc_cosine_constants(dual.degree);
        constants.insert(constants.end(), own.begin(), own.end());
      }
      break;
    default:
      step.op = DenseOp::series;
      step.odd = dual.phi == Phi::tanh || (dual.phi == Phi::monomial && dual.degree % 2 == 1);
      break;
  }
}

}  // namespace

DenseLayout dense_layout(const Recipe& recipe, const std::vector<cpu::Features>& features) {
  DenseLayout layout;
  for (std::size_t k = 0; k < recipe.steps.size(); ++k) {
    const bool emits = recipe.steps[k].op == Op::emit;
    std::int32_t& next = emits ? layout.deviations : layout.features;
    layout.first.push_back(next);
    layout.terms.push_back(static_cast<std::int32_t>(features[k].terms));
    next += static_cast<std::int32_t>(features[k].f64.rows());
  }
  return layout;
}

std::optional<DenseStep> dense_step(const Step& from, std::vector<double>& constants) {
  DenseStep step;
  step.trained_begin = from.channel_begin;
  step.trained_end = from.channel_end;
  switch (from.op) {
    case Op::affine:
      step.op = from.b2 > 0 ? DenseOp::blend_constant : DenseOp::add_rho;
      return step;
    case Op::dual:
      lower_dual(from.dual, step, constants);
      return step;
    case Op::dropout:
      step.op = DenseOp::shrink;
      step.a = from.rate;
      return step;
    case Op::fork:
      step.op = DenseOp::fork;
      return step;
    case Op::swap:
      step.op = DenseOp::swap;
      return step;
    case Op::join:
      step.op = DenseOp::join;
      return step;
    case Op::emit:
      step.op = DenseOp::emit;
      step.nngp_slot = from.nngp_slot;
      step.ntk_slot = from.ntk_slot;
      step.ntk_count = from.ntk_count;
      return step;
    default:
      return std::nullopt;  // layer_norm changes deviations only
  }
}

bool DenseLowered::is_chain() const {
  if (steps.empty() || std::ssize(steps) > chain_steps) return false;
  const DenseStep& last = steps.back();
  const int outputs = (last.nngp_slot >= 0 ? 1 : 0) + last.ntk_count;
  return last.op == DenseOp::emit && outputs == 1 && std::all_of(steps.begin(), steps.end() - 1, [](const auto& step) {
           return step.op == DenseOp::add_rho || step.op == DenseOp::rectifier;
         });
}

DenseLowered lower_dense(const Recipe& recipe, const DenseLayout& rows, const DenseLayout& cols) {
  DenseLowered lowered;
  for (std::size_t k = 0; k < recipe.steps.size(); ++k) {
    const Step& from = recipe.steps[k];
    std::optional<DenseStep> step = dense_step(from, lowered.constants);
    if (!step) continue;
    const bool after_dual = k > 0 && recipe.steps[k - 1].op == Op::dual;
    if (step->op == DenseOp::add_rho && after_dual) {  // fused with the activation, which computes ρ
      lowered.steps.back().trained_begin = from.channel_begin;
      lowered.steps.back().trained_end = from.channel_end;
      continue;
    }
    step->row_feature = rows.first[k];
    step->col_feature = cols.first[k];
    step->row_terms = rows.terms[k];
    step->col_terms = cols.terms[k];
    lowered.steps.push_back(*step);
  }
  return lowered;
}

}  // namespace widelimit::cuda
