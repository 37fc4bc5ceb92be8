#include "widelimit/certificate/certify.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/certificate/attack.hpp"
#include "widelimit/certificate/certify_block.hpp"
#include "widelimit/certificate/functionals.hpp"
#include "widelimit/data/array.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 3> method_names{"paper", "interval", "convex"};

/// Rows in float64, which holds float32 exactly.
Matrix<double> widened(const AnyMatrix& values) {
  return std::visit(
      [](const auto& m) {
        Matrix<double> result(m.rows(), m.cols(), Content::unset);
        std::copy_n(m.data(), m.rows() * m.cols(), result.data());
        return result;
      },
      values);
}

/// Points so many at a time that their products with the support stay small.
Index points_at_once(Index supports) {
  constexpr Index entries = Index{1} << 24;
  return std::clamp<Index>(entries / std::max<Index>(supports, 1), 16, 1024);
}

}  // namespace

std::string_view to_string(CertificateMethod method) { return method_names[static_cast<std::size_t>(method)]; }
CertificateMethod parse_certificate_method(std::string_view text) {
  return parse_choice<CertificateMethod>("certificate method", method_names, text);
}

void CertifyOptions::validate() const {
  if (box && !(std::isfinite(box->low) && std::isfinite(box->high) && box->low < box->high)) {
    fail(Code::usage, "the box [{}, {}] is empty or not finite", box->low, box->high);
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
    fail(Code::usage, "an attack needs at least one step and no negative number of restarts");
  }
  if (keep_attacked && !attack) fail(Code::usage, "there are no attacked samples to keep without an attack");
  if (threads < 0) fail(Code::usage, "the number of threads, {}, must not be negative", threads);
}

std::vector<CertificateMethod> certificate_methods(const Model& model) {
  if (!CertifiedKernel(model).cone) return {CertificateMethod::interval, CertificateMethod::convex};
  return {CertificateMethod::paper, CertificateMethod::interval, CertificateMethod::convex};
}

Certificates certify(const Model& model, const SampleView& samples, std::span<const Index> labels,
                     const CertifyOptions& options) {
  options.validate();
  model.validate();
  const auto classes = std::ssize(model.classes);
  check_labels(model.scheme, classes, model.outputs(), labels, samples.count());
  const Matrix<double> points = widened(scaled_samples(model, samples).values);
  if (options.box) check_box(*options.box, points.view());
  const Matrix<double> support = widened(model.support);
  const CertifiedMachine machine(model, support.view(), options);

  Certificates result;
  result.remark = machine.remark();
  if (options.keep_attacked) result.attacked = Matrix<double>(points.rows(), points.cols(), Content::unset);
  const Index most = points_at_once(model.supports());
  for (Index begin = 0; begin < points.rows(); begin += most) {
    const Index count = std::min(most, points.rows() - begin);
    machine.certify_block(points.view().block(begin, 0, count, points.cols()), labels.subspan(at(begin), at(count)),
                          {.first = begin, .total = points.rows()}, result);
  }
  return result;
}

}  // namespace widelimit
