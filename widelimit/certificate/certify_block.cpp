#include "widelimit/certificate/certify_block.hpp"

#include "widelimit/backend/select.hpp"
#include "widelimit/certificate/functionals.hpp"
#include "widelimit/certificate/radius_search.hpp"
#include "widelimit/certificate/ranges.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace widelimit {

namespace {

/// What a block of points reports, as a part of all of them.
class BlockProgress final : public Progress {
 public:
  BlockProgress(Progress* whole, const PointBlock& block) : whole_(whole), block_(block) {}
  [[nodiscard]] Progress* get() { return whole_ != nullptr ? this : nullptr; }
  bool update(std::int64_t done, std::int64_t /*total*/, std::string_view unit) override {
    return whole_->update(block_.first + done, block_.total, unit);
  }

 private:
  Progress* whole_;
  PointBlock block_;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double largest_entry(const double* row, Index size) {
  double largest = 0;
  for (Index j = 0; j < size; ++j) largest = std::max(largest, std::abs(row[j]));
  return largest > 0 ? largest : 1;
}

/// Where the search of each point begins and ends: beyond the extent of the box a ball holds nothing new.
std::vector<SearchRange> search_ranges(const CertificateProblem& problem, double first) {
  const CertifyOptions& options = problem.options;
  std::vector<SearchRange> ranges;
  for (Index k = 0; k < problem.points.rows; ++k) {
    const double entry = largest_entry(problem.points.row(k), problem.points.cols);
    double largest = options.largest * entry;
    if (options.box) {
      const double across = options.norm == Norm::l2 ? std::sqrt(static_cast<double>(problem.points.cols)) : 1;
      largest = std::min(largest, (options.box->high - options.box->low) * across * (1 + options.tolerance));
    }
    ranges.push_back({.first = std::min(first * entry, largest), .largest = largest});
  }
  return ranges;
}

/// The method asked for and those below it, best first.
std::vector<CertificateMethod> methods_down_from(CertificateMethod method) {
  std::vector<CertificateMethod> methods;
  for (int m = static_cast<int>(method); m >= 0; --m) methods.push_back(static_cast<CertificateMethod>(m));
  return methods;
}

}  // namespace

CertifiedMachine::CertifiedMachine(const Model& model, MatrixView<const double> support, const CertifyOptions& options)
    : model_(model),
      support_(support),
      options_(options),
      backend_(make_backend("cpu", {.threads = options.threads})),
      kernel_(std::in_place, std::get<Network>(model.kernel), model.kind, model.shape) {}

/// In float64 whatever the model's precision: what is certified is the machine with the α, b and support it stores.
Matrix<double> CertifiedMachine::decisions(MatrixView<const double> points) const {
  Matrix<double> g(points.rows, model_.outputs());
  Fit fit;
  fit.alpha = Matrix<double>(model_.supports(), model_.outputs(), Content::unset);
  std::copy_n(model_.alpha.data(), model_.supports() * model_.outputs(), fit.alpha.data());
  fit.bias = model_.bias;
  if (model_.supports() == 0) return decision(fit, Matrix<double>(points.rows, 0).view());
  const Gram k = gram(std::get<Network>(model_.kernel), SampleView(points, model_.shape),
                      SampleView(support_, model_.shape), {.kind = model_.kind}, *backend_);
  return decision(fit, view_of(model_.kind == Kind::ntk ? k.ntk : k.nngp));
}

std::unique_ptr<LowerBound> CertifiedMachine::make_bound(CertificateMethod method,
                                                         const CertificateProblem& problem) const {
  switch (method) {
    case CertificateMethod::paper:
      return make_paper_bound(problem);
    case CertificateMethod::interval:
      return make_interval_bound(problem);
    case CertificateMethod::convex:
      return make_convex_bound(problem);
  }
  return make_interval_bound(problem);
}

/// The cheapest that says yes.
void CertifiedMachine::answer_one_radius(const CertificateProblem& problem, double* radii,
                                         CertificateMethod* methods) const {
  std::vector<CertificateMethod> order = methods_down_from(options_.method);
  std::reverse(order.begin(), order.end());
  std::vector<Functional> left(problem.functionals.begin(), problem.functionals.end());
  for (const CertificateMethod method : order) {
    if (left.empty()) return;
    const CertificateProblem part{problem.kernel, problem.support, problem.alpha, problem.bias, problem.points,
                                  left,           problem.options};
    const std::vector<double> asked(at(problem.points.rows), *options_.radius);
    const std::vector<bool> holds = holds_at(*make_bound(method, part), left, asked);
    for (const Functional& f : left) {
      methods[f.point] = method;
      if (holds[at(f.point)]) radii[f.point] = *options_.radius;
    }
    left.erase(std::remove_if(left.begin(), left.end(), [&](const Functional& f) { return holds[at(f.point)]; }),
               left.end());
  }
}

/// The best method first; then those below it where they hold at the next radius.
void CertifiedMachine::find_radii(const CertificateProblem& problem, Progress* progress, double* radii,
                                  CertificateMethod* methods) const {
  const std::vector<CertificateMethod> order = methods_down_from(options_.method);
  std::vector<SearchRange> ranges = search_ranges(problem, order.front() == CertificateMethod::convex ? 0.05 : 1e-3);
  std::vector<double> found =
      search_radii(*make_bound(order.front(), problem), problem.functionals, ranges, options_.tolerance, progress);
  std::fill_n(methods, problem.points.rows, order.front());
  for (std::size_t m = 1; m < order.size(); ++m) {
    const auto bound = make_bound(order[m], problem);
    for (std::size_t k = 0; k < ranges.size(); ++k) {
      if (found[k] > 0) ranges[k].first = found[k] * (1 + options_.tolerance) * (1 + 1e-9);
      ranges[k].certified = found[k];
    }
    std::vector<double> better = search_radii(*bound, problem.functionals, ranges, options_.tolerance, progress);
    for (std::size_t k = 0; k < better.size(); ++k) {
      if (better[k] > found[k]) found[k] = better[k], methods[k] = order[m];
    }
  }
  std::copy(found.begin(), found.end(), radii);
}

void CertifiedMachine::find_attacks(const CertificateProblem& problem, std::span<const Index> labels,
                                    const PointBlock& block, Certificates& result) const {
  const auto begin = std::chrono::steady_clock::now();
  const auto classes = std::ssize(model_.classes);
  const ClassChange changed = [&](MatrixView<const double> samples, std::span<const Index> points) {
    const Matrix<double> g = decisions(samples);
    std::vector<bool> answers;
    for (Index k = 0; k < samples.rows; ++k) {
      answers.push_back(!functionals_of(model_.scheme, classes, g.view(), k, labels[at(points[at(k)])]).correct);
    }
    return answers;
  };
  Attacked found = attack(problem, *options_.attack, changed);
  for (Index k = 0; k < problem.points.rows; ++k) {
    if (!result.correct[at(block.first + k)]) found.distance[at(k)] = 0;
  }
  std::copy(found.distance.begin(), found.distance.end(), result.attack.end() - problem.points.rows);
  if (options_.keep_attacked) {
    std::copy_n(found.samples.data(), problem.points.rows * problem.points.cols,
                result.attacked.view().row(block.first));
  }
  result.attack_seconds += seconds_since(begin);
}

void CertifiedMachine::certify_block(MatrixView<const double> points, std::span<const Index> labels,
                                     const PointBlock& block, Certificates& result) const {
  const auto begin = std::chrono::steady_clock::now();
  BlockProgress progress(options_.progress, block);
  const Matrix<double> g = decisions(points);
  std::vector<Functional> functionals;
  for (Index k = 0; k < points.rows; ++k) {
    const PointFunctionals point =
        functionals_of(model_.scheme, std::ssize(model_.classes), g.view(), k, labels[at(k)]);
    result.correct.push_back(point.correct);
    result.margin.push_back(point.margin);
    if (!point.correct || !point.decided) continue;
    functionals.insert(functionals.end(), point.functionals.begin(), point.functionals.end());
  }
  std::vector<double> radii(at(points.rows), 0);
  std::vector<CertificateMethod> methods(at(points.rows), options_.method);
  const CertificateProblem problem{*kernel_, support_, model_.alpha.view(), model_.bias, points, functionals, options_};
  if (!functionals.empty()) {
    if (options_.radius) {
      answer_one_radius(problem, radii.data(), methods.data());
    } else {
      find_radii(problem, progress.get(), radii.data(), methods.data());
    }
  }
  result.radius.insert(result.radius.end(), radii.begin(), radii.end());
  result.method.insert(result.method.end(), methods.begin(), methods.end());
  result.seconds += seconds_since(begin);
  if (!options_.attack) return;
  result.attack.resize(result.radius.size(), 0);
  find_attacks(problem, labels, block, result);
}

}  // namespace widelimit
