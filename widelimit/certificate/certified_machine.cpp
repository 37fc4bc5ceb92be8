#include "widelimit/certificate/certified_machine.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/certificate/binary_scale.hpp"
#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/chain/chain_bound.hpp"
#include "widelimit/certificate/cone/cone_decisions.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/certificate/convex/gradient.hpp"
#include "widelimit/certificate/functionals.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/certificate/search/radius_search.hpp"
#include "widelimit/engine/engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace widelimit {

namespace {

const Network& network_of(const Model& model) {
  require_label_free(model, "certificates", "they enclose the kernel of the network alone");
  const auto* network = std::get_if<Network>(&model.kernel);
  if (network == nullptr) {
    fail(Code::usage, "classical kernels have no certificate; fit a network such as eq2 or fc:2");
  }
  return *network;
}

}  // namespace

CertifiedKernel::CertifiedKernel(const Model& model) : chain(read_chain(network_of(model), model.shape)) {
  // The NTK does not depend on the bias of a frozen last layer.
  if (model.kind == Kind::ntk && !chain.layers.empty() && !chain.layers.back().trained) chain.layers.back().b_std = 0;
  const auto biased =
      std::find_if(chain.layers.begin(), chain.layers.end(), [](const ChainLayer& layer) { return layer.b_std != 0; });
  without_last_bias = chain;
  if (chain.layers.size() > 1) last_bias = std::exchange(without_last_bias.layers.back().b_std, 0.0);
  if (biased != chain.layers.end()) {
    chain_reason = biased->place + " has a bias";
    return;
  }
  cone.emplace(chain, model.kind);
  if (cone->convex()) return;
  cone.reset();
  const auto frozen =
      std::find_if(chain.layers.begin(), chain.layers.end(), [](const ChainLayer& layer) { return !layer.trained; });
  chain_reason = frozen != chain.layers.end() ? frozen->place + " is frozen"
                                              : "the kernel of this network could not be proved convex";
}

namespace {

/// Marks support samples that are 0: without biases their kernel entries are 0 for any coefficients.
void note_zero_rows(std::span<const double> norms, EntryExponents& exponents) {
  for (std::size_t i = 0; i < norms.size(); ++i) {
    if (norms[i] != 0) continue;
    if (exponents.sample.empty()) exponents.sample.resize(norms.size(), 0);
    exponents.sample[i] = EntryExponents::no_entry;
  }
}

/// Throws Error{numerical} for outputs that are not finite, which determine no class.
void check_outputs(const Matrix<double>& g, std::span<const Index> rows) {
  for (Index k = 0; k < g.rows(); ++k) {
    const double* row = g.view().row(k);
    if (std::all_of(row, row + g.cols(), [](double x) { return std::isfinite(x); })) continue;
    fail(Code::numerical, "the output at sample {} overflows; scale the samples down", rows[usize(k)]);
  }
}

}  // namespace

/// Data that bounds of a block of points refer to.
struct CertifiedMachine::Parts {
  MatrixView<const double> points;  ///< scaled
  std::span<const Functional> functionals;
  std::span<const double> values;  ///< values of the functionals at their points
  std::optional<CertificateProblem> cone;
  std::optional<ChainProblem> chain;
};

ScaledSupport::ScaledSupport(Matrix<double> rows, double lift) : rows_(std::move(rows)) {
  std::vector<int> exponents = row_exponents(rows_.view(), lift);
  if (std::all_of(exponents.begin(), exponents.end(), [](int e) { return e == 0; })) return;
  scaled_ = Matrix<double>(rows_.rows(), rows_.cols(), Content::unset);
  for (Index i = 0; i < rows_.rows(); ++i) {
    scale_down({rows_.view().row(i), usize(rows_.cols())}, exponents[usize(i)], scaled_.view().row(i));
  }
  exponents_ = std::move(exponents);
}

CertifiedMachine::CertifiedMachine(const Model& model, const CertifiedKernel& kernel, const ScaledSupport& support,
                                   const CertifyOptions& options, const Engine& engine, int exponent)
    : model_(model),
      kernel_(kernel),
      support_(support),
      options_(options),
      exponents_{.point = exponent, .sample = support.exponents()},
      geometry_(support.scaled(), options, engine),
      engine_(engine) {
  if (options.method == CertificateMethod::paper && !options.widths.empty()) {
    fail(Code::usage, "Theorem 4.2 requires balls of equal width in all features; use method convex or interval");
  }
  if (kernel_.cone) {
    note_zero_rows(geometry_.norms, exponents_);
    return;
  }
  if (options.method == CertificateMethod::paper) {
    fail(Code::usage, "{}, where Theorem 4.2 does not hold; use method convex", kernel_.chain_reason);
  }
  remark_ = fmt::format("{}: kernel entries{} are bounded layer by layer", kernel_.chain_reason,
                        options.method == CertificateMethod::convex ? ", their slopes and curvatures" : "");
}

std::vector<CertificateMethod> CertifiedMachine::methods() const {
  std::vector<CertificateMethod> methods;
  for (int m = static_cast<int>(options_.method); m >= 0; --m) methods.push_back(static_cast<CertificateMethod>(m));
  // `paper` is at no radius better than `interval`, only cheaper. It requires balls of equal width.
  const bool cheaper = options_.radius && kernel_.cone && options_.widths.empty();
  if (!cheaper && methods.size() > 1) methods.pop_back();
  return methods;
}

/// Computed in float64 for any precision of the model: the certified function is the machine with its stored α, b and
/// support.
Matrix<double> CertifiedMachine::decisions(MatrixView<const double> points) const {
  Fit fit;
  fit.alpha = model_.alpha.copy();
  fit.bias = model_.bias;
  if (model_.supports() == 0) return decision(fit, Matrix<double>(points.rows, 0).view());
  const Gram k = gram(std::get<Network>(model_.kernel), SampleView(points, model_.shape),
                      SampleView(support_.rows(), model_.shape), {.kind = model_.kind}, engine_);
  return decision(fit, view_of(model_.kind == Kind::ntk ? k.ntk : k.nngp));
}

std::unique_ptr<LowerBound> CertifiedMachine::make_bound(CertificateMethod method, const Parts& parts) const {
  if (parts.chain) {
    return method == CertificateMethod::interval ? make_chain_bound(*parts.chain)
                                                 : make_chain_convex_bound(*parts.chain);
  }
  if (method == CertificateMethod::paper) return make_paper_bound(*parts.cone);
  return method == CertificateMethod::interval ? make_interval_bound(*parts.cone) : make_convex_bound(*parts.cone);
}

/// Tries the cheapest method first and keeps the first that proves the radius, which is in the caller's units.
void CertifiedMachine::certify_radius(const Parts& parts, Certificates& result) const {
  const double scaled = std::max(scaled_above(*options_.radius, -exponents_.point), least_radius);
  if (!(scaled <= largest_radius)) return;
  std::vector<CertificateMethod> order = methods();
  std::reverse(order.begin(), order.end());
  const Index first = std::ssize(result.radius) - parts.points.rows;
  std::vector<char> unproved(usize(parts.points.rows), 1);
  for (const CertificateMethod method : order) {
    const std::vector<bool> holds = holds_at(*make_bound(method, parts), parts.functionals, unproved, scaled);
    for (Index k = 0; k < parts.points.rows; ++k) {
      if (unproved[usize(k)] == 0) continue;
      result.method[usize(first + k)] = method;
      if (!holds[usize(k)]) continue;
      result.radius[usize(first + k)] = *options_.radius;
      unproved[usize(k)] = 0;
    }
  }
}

/// Searches with the best method first; weaker methods are tried only at the next larger radius.
void CertifiedMachine::find_radii(const Parts& parts, Progress* progress, Certificates& result) const {
  const std::vector<CertificateMethod> order = methods();
  const Index begin = std::ssize(result.radius) - parts.points.rows;
  const RadiusGrid grid(options_.tolerance);
  const double first = order.front() == CertificateMethod::convex ? 0.01 : 1e-3;
  std::vector<SearchRange> ranges =
      search_ranges(grid, parts.points, options_, first, std::ldexp(kernel_.lift(), -exponents_.point));
  // Balls smaller than the least radius of a scaled problem are contained in it.
  const Index least = grid.floor(1e13 * least_radius), largest = grid.floor(largest_radius);
  for (SearchRange& range : ranges) {
    range.first = std::clamp(range.first, least, largest);
    range.largest = std::clamp(range.largest, least, largest);
  }
  for (const CertificateMethod method : order) {
    const std::vector<Index> found =
        search_radii(*make_bound(method, parts), {parts.functionals, parts.values}, grid, ranges, engine_, progress);
    for (Index k = 0; k < parts.points.rows; ++k) {
      SearchRange& range = ranges[usize(k)];
      if (method == order.front() || found[usize(k)] > range.certified) result.method[usize(begin + k)] = method;
      range.certified = found[usize(k)];
      if (range.certified != RadiusGrid::none) range.first = range.certified + 1;
    }
  }
  for (Index k = 0; k < parts.points.rows; ++k) {
    result.radius[usize(begin + k)] = unscaled_radius(grid.radius(ranges[usize(k)].certified), exponents_.point);
  }
}

/// Returns whether samples in units of 2^exponent have another class than the labels of `points`. A sample whose
/// outputs overflow counts as unchanged.
std::vector<bool> CertifiedMachine::changed(MatrixView<const double> scaled, std::span<const Index> points,
                                            std::span<const Index> labels) const {
  Matrix<double> samples(scaled.rows, scaled.cols, Content::unset);
  for (Index k = 0; k < scaled.rows; ++k) {
    scale_down({scaled.row(k), usize(scaled.cols)}, -exponents_.point, samples.view().row(k));
  }
  const auto classes = std::ssize(model_.classes);
  std::vector<bool> is_changed;
  try {
    const Matrix<double> g = decisions(samples.view());
    check_outputs(g, points);
    for (Index k = 0; k < samples.rows(); ++k) {
      is_changed.push_back(
          !functionals_of(model_.scheme, classes, g.view(), k, labels[usize(points[usize(k)])]).correct);
    }
  } catch (const Error& error) {
    if (error.code() != Code::numerical) throw;
    if (scaled.rows == 1) return {false};
    is_changed.clear();
    for (Index k = 0; k < scaled.rows; ++k) {
      is_changed.push_back(changed(scaled.block(k, 0, 1, scaled.cols), points.subspan(usize(k), 1), labels).front());
    }
  }
  return is_changed;
}

AttackGoal CertifiedMachine::goal_of(const Parts& parts) const {
  const auto goal = [](auto gradient) -> AttackGoal {
    return [gradient = std::move(gradient)](MatrixView<const double> x, std::span<const Index> rows, double* values,
                                            MatrixView<double> slopes) { gradient->evaluate(x, rows, values, slopes); };
  };
  if (parts.cone) {
    const ConeKernel& kernel = *kernel_.cone;
    if (!geometry_.held) {
      const auto weights = [&](const Functional& f) { return parts.cone->weights(f); };
      return goal(std::make_shared<FunctionalGradient>(support_.scaled(), parts.functionals, weights,
                                                       cone_entries(kernel, geometry_.norms)));
    }
    const auto weights = [&](const Functional& f) {
      FunctionalWeights found = parts.cone->weights(f);
      for (std::size_t i = 0; i < found.beta.size(); ++i) found.beta[i] *= geometry_.norms[i] * kernel.scale();
      return found;
    };
    return goal(std::make_shared<HeldGradient>(*geometry_.held, parts.functionals, weights, cone_slopes(kernel)));
  }
  EntryExponents entries = ChainFunctionals(*parts.chain).deviations();
  const auto weights = [&](const Functional& f) {
    return functional_weights(model_.alpha.view(), model_.bias, f, entries);
  };
  // Rows of unusual scale require the range of long double, which devices do not support.
  if (geometry_.held && unscaled(exponents_) && unscaled(entries)) {
    return goal(std::make_shared<HeldGradient>(*geometry_.held, parts.functionals, weights,
                                               chain_slopes(kernel_.chain, model_.kind, geometry_.norms)));
  }
  return goal(std::make_shared<FunctionalGradient>(
      support_.scaled(), parts.functionals, weights,
      chain_entries(kernel_.chain, model_.kind, geometry_.norms, exponents_, entries)));
}

void CertifiedMachine::find_attacks(const Parts& parts, std::span<const Index> labels, Certificates& result) const {
  const auto begin = Clock::now();
  const AttackGoal goal = goal_of(parts);
  AttackedRows attacked{parts.points, {}, options_.shape(), exponents_.point};
  if (model_.supports() > 0) {
    for (const Functional& functional : parts.functionals) attacked.point.push_back(functional.point);
  }
  const Attacked found =
      attack(attacked, goal, options_, engine_, [&](MatrixView<const double> samples, std::span<const Index> points) {
        return changed(samples, points, labels);
      });
  const Index first = std::ssize(result.attack);
  for (Index k = 0; k < parts.points.rows; ++k) {
    const double distance = scaled_above(found.distance[usize(k)], exponents_.point);
    result.attack.push_back(result.correct[usize(first + k)] ? distance : 0);
  }
  if (options_.keep_attacked) {
    const Index size = parts.points.cols;
    for (Index k = 0; k < parts.points.rows; ++k) {
      scale_down({found.samples.view().row(k), usize(size)}, -exponents_.point, result.attacked.view().row(first + k));
    }
  }
  result.attack_seconds += seconds_since(begin);
}

void CertifiedMachine::certify_block(const ScaledPoints& block, Certificates& result) const {
  const auto begin = Clock::now();
  BlockProgress progress(options_.progress, block.done);
  const MatrixView<const double> scaled = block.scaled;
  PointGeometry geometry(geometry_, scaled, engine_, std::move(products_));
  const Matrix<double> g = kernel_.cone ? cone_decisions(*kernel_.cone, {model_.alpha.view(), model_.bias}, geometry,
                                                         scaled, exponents_, engine_)
                                        : decisions(block.points);
  check_outputs(g, block.rows);
  std::vector<Functional> functionals;
  std::vector<double> values;
  for (Index k = 0; k < scaled.rows; ++k) {
    const PointFunctionals point =
        functionals_of(model_.scheme, std::ssize(model_.classes), g.view(), k, block.labels[usize(k)]);
    result.correct.push_back(point.correct);
    result.margin.push_back(point.margin);
    if (point.correct && !point.decided) ++result.undecided;
    if (!point.correct || !point.decided) continue;
    functionals.insert(functionals.end(), point.functionals.begin(), point.functionals.end());
    values.insert(values.end(), point.values.begin(), point.values.end());
  }
  Parts parts{scaled, functionals, values, {}, {}};
  if (kernel_.cone) {
    parts.cone.emplace(CertificateProblem{*kernel_.cone, support_.scaled(), model_.alpha.view(), model_.bias, scaled,
                                          functionals, options_, engine_, &geometry, exponents_});
  } else {
    parts.chain.emplace(ChainProblem{kernel_.without_last_bias, model_.kind, support_.scaled(), model_.alpha.view(),
                                     model_.bias, scaled, functionals, options_, engine_, geometry, kernel_.last_bias,
                                     exponents_});
  }
  result.radius.resize(result.correct.size(), 0);
  result.method.resize(result.correct.size(), methods().front());
  if (options_.radius) {
    certify_radius(parts, result);
  } else {
    find_radii(parts, progress.get(), result);
  }
  result.seconds += seconds_since(begin);
  if (options_.attack) find_attacks(parts, block.labels, result);
  products_ = std::move(geometry.inner);
}

}  // namespace widelimit
