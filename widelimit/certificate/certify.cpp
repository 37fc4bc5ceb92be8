#include "widelimit/certificate/certify.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/certificate/attack/attack.hpp"
#include "widelimit/certificate/binary_scale.hpp"
#include "widelimit/certificate/certified_machine.hpp"
#include "widelimit/certificate/functionals.hpp"
#include "widelimit/certificate/input_units.hpp"
#include "widelimit/data/array.hpp"
#include "widelimit/engine/cones.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 3> method_names{"paper", "interval", "convex"};
constexpr std::array<std::string_view, 2> units_names{"input", "scaled"};

/// Returns the rows in float64, which represents float32 exactly.
template <typename T>
Matrix<double> widened(const Matrix<T>& m) {
  Matrix<double> result(m.rows(), m.cols(), Content::unset);
  std::copy_n(m.data(), m.rows() * m.cols(), result.data());
  return result;
}
/// A ball around a sparse sample also changes its zeros, so certificates need dense rows.
Matrix<double> widened(const SparseMatrix& m) { return dense_copy(m.view()); }

Matrix<double> widened(const Graphs& /*graphs*/) { fail(Code::input, "certificates do not support graphs"); }

Matrix<double> widened(const AnySamples& values) {
  return std::visit([](const auto& m) { return widened(m); }, values);
}

/// Number of points per block, limited so that their products with the support take 32 MiB on the host (first access to
/// freshly allocated memory is slow), or 1 GiB on an engine with separate memory (efficient on many balls at once).
Index points_at_once(Index supports, const Engine& engine) {
  const bool held = cones_of(engine) != nullptr;
  const Index entries = Index{1} << (held ? 27 : 22);
  return std::clamp<Index>(entries / std::max<Index>(supports, 1), 16, held ? 1 << 14 : 1024);
}

/// Points scaled by one power of two; all points in one group if their values are of ordinary size.
struct PointGroup {
  int exponent = 0;
  std::vector<Index> rows;
};

/// Returns at least one group. `lift` is an additional coordinate of every point.
std::vector<PointGroup> group_points(MatrixView<const double> points, double lift) {
  std::map<int, std::vector<Index>> groups;
  const std::vector<int> exponents = row_exponents(points, lift);
  for (Index k = 0; k < points.rows; ++k) groups[exponents[usize(k)]].push_back(k);
  std::vector<PointGroup> result;
  for (auto& [exponent, rows] : groups) result.push_back({exponent, std::move(rows)});
  if (result.empty()) result.emplace_back();
  return result;
}

/// Returns options with the box in units of 2^exponent, rounded outwards.
CertifyOptions scaled_options(const CertifyOptions& options, int exponent) {
  CertifyOptions result = options;
  if (!options.box) return result;
  std::vector<double> low, high;
  for (Index j = 0; j < options.box->size(); ++j) {
    low.push_back(scaled_below(options.box->low(j), -exponent));
    high.push_back(scaled_above(options.box->high(j), -exponent));
  }
  result.box = Box(std::move(low), std::move(high));
  return result;
}

/// Copies entry k of every list to position rows[k].
void scatter(const Certificates& part, std::span<const Index> rows, Certificates& result) {
  const auto put = [&](const auto& from, auto& to) {
    if (from.empty()) return;
    to.resize(result.correct.size());
    for (std::size_t k = 0; k < rows.size(); ++k) to[usize(rows[k])] = from[k];
  };
  put(part.correct, result.correct);
  put(part.margin, result.margin);
  put(part.radius, result.radius);
  put(part.method, result.method);
  put(part.attack, result.attack);
  for (Index k = 0; k < part.attacked.rows(); ++k) {
    std::copy_n(part.attacked.view().row(k), part.attacked.cols(), result.attacked.view().row(rows[usize(k)]));
  }
  result.undecided += part.undecided;
  result.remark = part.remark;
  result.seconds += part.seconds;
  result.attack_seconds += part.attack_seconds;
}

/// Certifies the points of one group; `done` is the number of points certified before.
Certificates certify_group(const CertifiedMachine& machine, MatrixView<const double> points, const PointGroup& group,
                           std::span<const Index> labels, const CertifyOptions& options, Index most, Index done) {
  Certificates part{.remark = machine.remark()};
  const Index count = std::ssize(group.rows), features = points.cols;
  if (options.keep_attacked) part.attacked = Matrix<double>(count, features, Content::unset);
  for (Index begin = 0; begin < count; begin += most) {
    const Index size = std::min(most, count - begin);
    Matrix<double> own(size, features, Content::unset),
        scaled(group.exponent != 0 ? size : 0, features, Content::unset);
    ScaledPoints block{own.view(),
                       group.exponent != 0 ? scaled.view() : own.view(),
                       std::span(group.rows).subspan(usize(begin), usize(size)),
                       {},
                       {.first = done + begin, .total = points.rows}};
    for (Index k = 0; k < size; ++k) {
      const Index row = block.rows[usize(k)];
      block.labels.push_back(labels[usize(row)]);
      std::copy_n(points.row(row), features, own.view().row(k));
      if (group.exponent == 0) continue;
      scale_down({points.row(row), usize(features)}, group.exponent, scaled.view().row(k));
    }
    machine.certify_block(block, part);
  }
  return part;
}

}  // namespace

std::string_view to_string(CertificateMethod method) { return method_names[static_cast<std::size_t>(method)]; }
CertificateMethod parse_certificate_method(std::string_view text) {
  return parse_choice<CertificateMethod>("certificate method", method_names, text);
}

std::string_view to_string(CertificateUnits units) { return units_names[static_cast<std::size_t>(units)]; }
CertificateUnits parse_certificate_units(std::string_view text) {
  return parse_choice<CertificateUnits>("units of a certificate", units_names, text);
}

void CertifyOptions::validate() const {
  for (Index j = 0; box && j < box->size(); ++j) {
    const bool fixed = box->size() > 1 && box->low(j) == box->high(j);  // a single feature may be constant
    if (std::isfinite(box->low(j)) && std::isfinite(box->high(j)) && (box->low(j) < box->high(j) || fixed)) continue;
    fail(Code::usage, "the box [{}, {}]{} is empty or not finite", box->low(j), box->high(j),
         box->size() > 1 ? fmt::format(" of feature {}", j) : "");
  }
  for (std::size_t j = 0; j < widths.size(); ++j) {
    if (widths[j] >= 0 && std::isfinite(widths[j])) continue;
    fail(Code::usage, "the half-width {} of feature {} must be a number >= 0", widths[j], j);
  }
  if (!widths.empty()) {
    if (norm == Norm::l2) fail(Code::usage, "half-widths of features require an linf ball; an l2 ball has none");
    if (std::all_of(widths.begin(), widths.end(), [](double w) { return w == 0; })) {
      fail(Code::usage, "all half-widths are 0: no feature may change, so there is nothing to certify");
    }
  }
  if (radius && !(*radius > 0 && std::isfinite(*radius))) {
    fail(Code::usage, "the radius {} must be a number > 0", *radius);
  }
  if (!(largest > 0) || !std::isfinite(largest))
    fail(Code::usage, "the largest radius {} must be a number > 0", largest);
  if (!(tolerance >= 1e-9 && tolerance <= 1)) {
    fail(Code::usage, "the tolerance {} of a radius must be between 1e-9 and 1", tolerance);
  }
  if (attack && (attack->steps < 1 || attack->restarts < 0)) {
    fail(Code::usage, "an attack needs at least one step and a non-negative number of restarts");
  }
  if (keep_attacked && !attack) fail(Code::usage, "there are no attacked samples to keep without an attack");
}

std::vector<CertificateMethod> certificate_methods(const Model& model, const CertifyOptions& options) {
  const InputUnits units(model.scaling ? &*model.scaling : nullptr, options, model.shape.size(), Precision::f64);
  if (!CertifiedKernel(model).cone || !units.cubes()) {
    return {CertificateMethod::interval, CertificateMethod::convex};
  }
  return {CertificateMethod::paper, CertificateMethod::interval, CertificateMethod::convex};
}

void require_certificates(const Engine& engine) {
  if (engine.name() == "cpu" || cones_of(engine) != nullptr) return;
  fail(Code::usage,
       "certificates are computed on the processor and on NVIDIA devices; choose the back end cpu instead of {}",
       engine.name());
}

Certificates certify(const Model& model, const SampleView& samples, std::span<const Index> labels,
                     const CertifyOptions& requested, const Engine& engine) {
  const Interruptible interruptible(requested.progress);
  require_certificates(engine);
  requested.validate();
  model.validate();
  check_labels(model.scheme, std::ssize(model.classes), model.outputs(), labels, samples.count());
  const AnySamples scaled_values = scaled_samples(model, samples).values;
  const Matrix<double> points = widened(scaled_values);
  const InputUnits units(model.scaling ? &*model.scaling : nullptr, requested, points.cols(),
                         std::holds_alternative<Matrix<float>>(scaled_values) ? Precision::f32 : Precision::f64);
  const CertifyOptions options = units.scaled(points.view());
  const CertifiedKernel kernel(model);
  const ScaledSupport support(widened(model.support), kernel.lift());

  Certificates result;
  result.correct.resize(usize(points.rows()));
  if (options.keep_attacked) result.attacked = Matrix<double>(points.rows(), points.cols(), Content::unset);
  Index done = 0;
  for (const PointGroup& group : group_points(points.view(), kernel.lift())) {
    const CertifyOptions scaled = scaled_options(options, group.exponent);
    const CertifiedMachine machine(model, kernel, support, scaled, engine, group.exponent);
    scatter(
        certify_group(machine, points.view(), group, labels, options, points_at_once(model.supports(), engine), done),
        group.rows, result);
    done += std::ssize(group.rows);
  }
  units.restore(points.view(), result);
  return result;
}

}  // namespace widelimit
