#include "widelimit/kernel/label_aware/spectrum_repair.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 4> psd_names{"none", "clip", "shift", "refuse"};
/// Test samples projected at a time.
constexpr Index strip = 512;

void count_signs(const std::vector<double>& values, double epsilon, SpectrumRepair& repair) {
  repair.smallest = values.front();
  repair.largest = std::max(std::abs(values.front()), std::abs(values.back()));
  repair.nearest = repair.largest;
  const double rounding = static_cast<double>(values.size()) * epsilon * repair.largest;
  for (const double value : values) {
    repair.nearest = std::min(repair.nearest, std::abs(value));
    repair.mean += std::abs(value) / static_cast<double>(values.size());
    ++(value > rounding ? repair.inertia.positive : value < -rounding ? repair.inertia.negative : repair.inertia.zero);
  }
}

/// K = Σ λ v vᵀ over the positive eigenvalues.
void clip(EngineMatrix& kernel, SpectrumRepair& repair, const std::vector<double>& values, const EngineMatrix& vectors,
          const Algebra& algebra) {
  const Index positive = repair.inertia.positive;
  const Index n = kernel.rows();
  repair.kept = vectors.block(n - positive, 0, positive, n);
  EngineMatrix clipped = algebra.allocate(n, n, Precision::f64);
  algebra.inner_product(repair.kept, std::span(values).last(usize(positive)), true, clipped);
  algebra.copy(clipped, kernel);
}

}  // namespace

std::string_view to_string(Psd psd) { return psd_names[static_cast<std::size_t>(psd)]; }
Psd parse_psd(std::string_view text) { return parse_choice<Psd>("treatment of negative eigenvalues", psd_names, text); }

SpectrumRepair repair_spectrum(EngineMatrix& kernel, Psd psd, const Engine& engine, Progress* progress) {
  const Algebra& algebra = engine.algebra();
  const Index n = kernel.rows();
  if (kernel.cols() != n) fail(Code::input, "a Gram matrix is square; this one is {} by {}", n, kernel.cols());
  SpectrumRepair repair{.psd = psd};
  if (n == 0) return repair;
  EngineMatrix vectors;
  EngineMatrix copy = algebra.copy_of(kernel, Precision::f64);
  const std::vector<double> values = psd == Psd::clip ? algebra.eigenvectors(std::move(copy), vectors, progress)
                                                      : algebra.eigenvalues(std::move(copy), progress);
  count_signs(values, epsilon_of(kernel.precision()), repair);
  if (repair.inertia.negative == 0) return repair;
  if (psd == Psd::clip) {
    if (repair.inertia.positive == 0) fail(Code::numerical, "the kernel has no positive eigenvalue to keep");
    clip(kernel, repair, values, vectors, algebra);
  }
  if (psd == Psd::refuse) {
    fail(Code::numerical,
         "the kernel is not positive semi-definite: {} of {} eigenvalues are negative, the smallest is {:.3g}, the "
         "largest {:.3g}; reduce the ratio of the label-aware part, or clip or shift the eigenvalues",
         repair.inertia.negative, n, repair.smallest, repair.largest);
  }
  if (psd == Psd::shift) {
    repair.shift = -repair.smallest;
    algebra.add_to_diagonal(kernel, std::vector<double>(usize(n), repair.shift));
  }
  return repair;
}

std::string near_zero_warning(const SpectrumRepair& repair) {
  if (repair.psd != Psd::none || repair.inertia == Inertia{} || repair.nearest > 1e-6 * repair.mean) return {};
  return fmt::format(
      "an eigenvalue of the kernel is near 0 ({:.2g}, the mean magnitude is {:.2g}): regression without a ridge term "
      "is then erratic; change the ratio, clip or shift the eigenvalues, or add a ridge term",
      repair.nearest, repair.mean);
}

void project_test(const SpectrumRepair& repair, EngineMatrix& kernel, const Engine& engine) {
  if (repair.kept.empty()) return;
  if (kernel.cols() != repair.kept.cols()) {
    fail(Code::input, "the kernel of the test samples must be test × train, but is {} by {} for {} training samples{}",
         kernel.rows(), kernel.cols(), repair.kept.cols(),
         kernel.rows() == repair.kept.cols() ? "; give its transpose" : "");
  }
  const Algebra& algebra = engine.algebra();
  for (Index begin = 0; begin < kernel.rows(); begin += strip) {
    const Index count = std::min(strip, kernel.rows() - begin);
    EngineMatrix own = kernel.block(begin, 0, count, kernel.cols());
    const EngineMatrix rows = algebra.copy_of(own, Precision::f64);
    EngineMatrix scores = algebra.allocate(count, repair.kept.rows(), Precision::f64);
    algebra.product(1, Transpose::no, rows, Transpose::yes, repair.kept, 0, scores);
    EngineMatrix projected = algebra.allocate(count, kernel.cols(), Precision::f64);
    algebra.product(1, Transpose::no, scores, Transpose::no, repair.kept, 0, projected);
    algebra.copy(projected, own);
  }
}

void project_coefficients(const SpectrumRepair& repair, MatrixView<double> coefficients, const Engine& engine) {
  if (repair.kept.empty()) return;
  if (coefficients.rows != repair.kept.cols()) {
    fail(Code::input, "{} rows of coefficients for {} training samples", coefficients.rows, repair.kept.cols());
  }
  Matrix<double> scores(repair.kept.rows(), coefficients.cols, Content::unset);
  engine.algebra().multiply(Transpose::no, repair.kept, coefficients, scores.view());
  engine.algebra().multiply(Transpose::yes, repair.kept, scores.view(), coefficients);
}

}  // namespace widelimit
