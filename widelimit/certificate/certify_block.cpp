#include "widelimit/certificate/certify_block.hpp"

#include "widelimit/backend/select.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/certificate/chain_bound.hpp"
#include "widelimit/certificate/cone_decisions.hpp"
#include "widelimit/certificate/functionals.hpp"
#include "widelimit/certificate/gradient.hpp"
#include "widelimit/certificate/radius_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace widelimit {

/// What bounds of a block of points refer to.
struct CertifiedMachine::Parts {
  MatrixView<const double> points;
  std::span<const Functional> functionals;
  std::span<const double> values;  ///< of the functionals at their points
  std::optional<CertificateProblem> cone;
  std::optional<ChainProblem> chain;
};

CertifiedMachine::CertifiedMachine(const Model& model, MatrixView<const double> support, const CertifyOptions& options)
    : model_(model),
      support_(support),
      options_(options),
      geometry_(support, options),
      backend_(make_backend("cpu", {.threads = options.threads})),
      kernel_(model) {
  if (kernel_.cone) return;
  if (options.method == CertificateMethod::paper) {
    fail(Code::usage, "{}, and Theorem 4.2 is for networks without; use method convex", kernel_.why_chain);
  }
  remark_ = fmt::format("{}: kernel entries{} are bounded layer by layer", kernel_.why_chain,
                        options.method == CertificateMethod::convex ? ", their slopes and curvatures" : "");
}

std::vector<CertificateMethod> CertifiedMachine::methods() const {
  std::vector<CertificateMethod> methods;
  for (int m = static_cast<int>(options_.method); m >= 0; --m) methods.push_back(static_cast<CertificateMethod>(m));
  // At no radius is paper better than interval; it is only cheaper.
  if ((!options_.radius || !kernel_.cone) && methods.size() > 1) methods.pop_back();
  return methods;
}

/// In float64 whatever the model's precision: what is certified is the machine with the α, b and support it stores.
Matrix<double> CertifiedMachine::decisions(MatrixView<const double> points) const {
  Fit fit;
  fit.alpha = Matrix<double>(model_.supports(), model_.outputs(), Content::unset);
  std::copy_n(model_.alpha.data(), model_.supports() * model_.outputs(), fit.alpha.data());
  fit.bias = model_.bias;
  if (model_.supports() == 0) return decision(fit, Matrix<double>(points.rows, 0).view());
  const Gram k = gram(std::get<Network>(model_.kernel), SampleView(points, model_.shape),
                      SampleView(support_, model_.shape), {.kind = model_.kind}, *backend_);
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

/// The cheapest method that says yes.
void CertifiedMachine::answer_one_radius(const Parts& parts, Certificates& result) const {
  std::vector<CertificateMethod> order = methods();
  std::reverse(order.begin(), order.end());
  const Index first = std::ssize(result.radius) - parts.points.rows;
  std::vector<char> asked(at(parts.points.rows), 1);
  for (const CertificateMethod method : order) {
    const std::vector<bool> holds = holds_at(*make_bound(method, parts), parts.functionals, asked, *options_.radius);
    for (Index k = 0; k < parts.points.rows; ++k) {
      if (asked[at(k)] == 0) continue;
      result.method[at(first + k)] = method;
      if (!holds[at(k)]) continue;
      result.radius[at(first + k)] = *options_.radius;
      asked[at(k)] = 0;
    }
  }
}

/// The best method first; then those below it where they hold at the next radius.
void CertifiedMachine::find_radii(const Parts& parts, Progress* progress, Certificates& result) const {
  const std::vector<CertificateMethod> order = methods();
  const Index begin = std::ssize(result.radius) - parts.points.rows;
  std::vector<SearchRange> ranges =
      search_ranges(parts.points, options_, order.front() == CertificateMethod::convex ? 0.01 : 1e-3);
  for (const CertificateMethod method : order) {
    const std::vector<double> found = search_radii(*make_bound(method, parts), {parts.functionals, parts.values},
                                                   ranges, options_.tolerance, progress, options_.threads);
    for (Index k = 0; k < parts.points.rows; ++k) {
      SearchRange& range = ranges[at(k)];
      if (method == order.front() || found[at(k)] > range.certified) result.method[at(begin + k)] = method;
      range.certified = found[at(k)];
      if (range.certified > 0) range.first = range.certified * (1 + options_.tolerance) * (1 + 1e-9);
    }
  }
  for (Index k = 0; k < parts.points.rows; ++k) result.radius[at(begin + k)] = ranges[at(k)].certified;
}

void CertifiedMachine::find_attacks(const Parts& parts, std::span<const Index> labels, const PointBlock& block,
                                    Certificates& result) const {
  const auto begin = Clock::now();
  const auto classes = std::ssize(model_.classes);
  const ClassChange changed = [&](MatrixView<const double> samples, std::span<const Index> points) {
    const Matrix<double> g = decisions(samples);
    std::vector<bool> answers;
    for (Index k = 0; k < samples.rows; ++k) {
      answers.push_back(!functionals_of(model_.scheme, classes, g.view(), k, labels[at(points[at(k)])]).correct);
    }
    return answers;
  };
  const FunctionalGradient gradient(support_, model_.alpha.view(), model_.bias, parts.functionals,
                                    kernel_.cone ? cone_entries(*kernel_.cone, geometry_.norms)
                                                 : chain_entries(kernel_.chain, model_.kind, geometry_.norms));
  const AttackGoal goal = [&](MatrixView<const double> x, std::span<const Index> rows, double* values,
                              MatrixView<double> slopes) { gradient.evaluate(x, rows, values, slopes); };
  AttackedRows attacked{parts.points, {}, options_.norm, options_.box};
  if (support_.rows > 0) {
    for (const Functional& functional : parts.functionals) attacked.point.push_back(functional.point);
  }
  const Attacked found = attack(attacked, goal, options_, changed);
  for (Index k = 0; k < parts.points.rows; ++k) {
    result.attack.push_back(result.correct[at(block.first + k)] ? found.distance[at(k)] : 0);
  }
  if (options_.keep_attacked) {
    std::copy_n(found.samples.data(), parts.points.rows * parts.points.cols, result.attacked.view().row(block.first));
  }
  result.attack_seconds += seconds_since(begin);
}

void CertifiedMachine::certify_block(MatrixView<const double> points, std::span<const Index> labels,
                                     const PointBlock& block, Certificates& result) const {
  const auto begin = Clock::now();
  BlockProgress progress(options_.progress, block);
  const PointGeometry geometry(geometry_, points, options_);
  const Matrix<double> g =
      kernel_.cone ? cone_decisions(*kernel_.cone, model_, geometry, points, options_.threads) : decisions(points);
  std::vector<Functional> functionals;
  std::vector<double> values;
  for (Index k = 0; k < points.rows; ++k) {
    const PointFunctionals point =
        functionals_of(model_.scheme, std::ssize(model_.classes), g.view(), k, labels[at(k)]);
    result.correct.push_back(point.correct);
    result.margin.push_back(point.margin);
    if (point.correct && !point.decided) ++result.undecided;
    if (!point.correct || !point.decided) continue;
    functionals.insert(functionals.end(), point.functionals.begin(), point.functionals.end());
    values.insert(values.end(), point.values.begin(), point.values.end());
  }
  Parts parts{points, functionals, values, {}, {}};
  if (kernel_.cone) {
    parts.cone.emplace(CertificateProblem{*kernel_.cone, support_, model_.alpha.view(), model_.bias, points,
                                          functionals, options_, &geometry});
  } else {
    parts.chain.emplace(ChainProblem{kernel_.without_last_bias, model_.kind, support_, model_.alpha.view(), model_.bias,
                                     points, functionals, options_, geometry, kernel_.last_bias});
  }
  result.radius.resize(result.correct.size(), 0);
  result.method.resize(result.correct.size(), methods().front());
  if (options_.radius) {
    answer_one_radius(parts, result);
  } else {
    find_radii(parts, progress.get(), result);
  }
  result.seconds += seconds_since(begin);
  if (options_.attack) find_attacks(parts, labels, block, result);
}

}  // namespace widelimit
