#include "widelimit/kernel/label_aware/label_aware.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/kernel/inputs.hpp"
#include "widelimit/kernel/label_aware/pair_estimate.hpp"
#include "widelimit/kernel/label_aware/pair_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 6> method_names{"linear1", "linear2", "kr1", "kr2", "fjlt1", "fjlt2"};
constexpr std::array<std::string_view, 2> target_names{"same", "signed"};

void check_functions(LabelAwareMethod method, const PairFunctions* own) {
  if (own == nullptr || reads_samples(method)) return;
  fail(Code::usage, "{} uses the kernel only; user-supplied pair features need linear or fjlt", to_string(method));
}

void check_sources(LabelAwareMethod method, const PairSources& sources, Index samples) {
  check_functions(method, sources.own);
  if (sources.train && sources.train->count() != samples) {
    fail(Code::input, "the kernel has {} columns for {} training samples", samples, sources.train->count());
  }
  if (!reads_samples(method)) return;
  if (!sources.train)
    fail(Code::usage, "{} also needs the samples; provide them, or choose kr1 or kr2", to_string(method));
  if (sources.train->graphs() != nullptr) {
    fail(Code::input,
         "{} compares samples of numbers and does not take graphs; choose kr1 or kr2, which use their kernel only",
         to_string(method));
  }
  check_samples(*sources.train, "training sample");
}

void check_labels(std::span<const Index> labels, Index classes, Index samples) {
  if (std::ssize(labels) != samples) fail(Code::input, "{} labels for {} samples", labels.size(), samples);
  if (labels.empty()) fail(Code::input, "there are no samples to learn from");
  for (const Index label : labels) {
    if (label < 0 || label >= classes) fail(Code::input, "label {} is not one of {} classes", label, classes);
  }
  if (std::all_of(labels.begin(), labels.end(), [&](Index label) { return label == labels.front(); })) {
    fail(Code::input, "all samples are of one class; a label-aware kernel needs two");
  }
}

/// Σ|Z| over the training pairs.
double magnitude(const PairEstimator& z, const GramMatrix& kernel, Progress* progress) {
  double sum = 0;
  std::optional<StripPanels> left;
  over_pairs(
      kernel, progress,
      [&](Range cols) {
        return [&, right = z.right_panel(cols, true)](const PairBlock& block, MatrixView<const double> k) {
          Matrix<double> values(block.rows.size(), block.cols.size(), Content::unset);
          (void)z.evaluate(block, left->of(block), right, k, values.view());
          double part = 0;
          for (Index i = 0; i < block.pairs(); ++i) part += std::abs(values.data()[i]);
          return part;
        };
      },
      [&](double part, double weight) { sum += weight * part; },
      [&](Range strip) { left.emplace(strip, kernel.engine(), [&](Range rows) { return z.left_panel(rows, true); }); },
      [](Range, MatrixView<const double>) {});
  return sum;
}

/// A host matrix on an engine: in place if the engine uses host memory, else a copy that is read back.
class OnEngine {
 public:
  OnEngine(AnyMatrix& host, const Engine& engine) : host_(host), algebra_(engine.algebra()) {
    auto over = algebra_.over(view_of(host));
    in_place_ = over.has_value();
    matrix_ = over ? *over
                   : algebra_.copy_of(algebra_.hold(view_of(host)),
                                      std::holds_alternative<Matrix<float>>(host) ? Precision::f32 : Precision::f64);
  }
  [[nodiscard]] EngineMatrix& matrix() { return matrix_; }
  void read_back() {
    if (in_place_) return;
    std::visit([&](auto& host) { algebra_.read(matrix_, host.view()); }, host_);
  }

 private:
  AnyMatrix& host_;
  const Algebra& algebra_;
  EngineMatrix matrix_;
  bool in_place_ = false;
};

/// Formats e.g. "2 user-supplied pair features ('f', 'g')".
std::string functions_text(std::span<const std::string> names) {
  if (names.empty()) return "no user-supplied pair features";
  return fmt::format("{} user-supplied pair feature{} ('{}')", names.size(), names.size() == 1 ? "" : "s",
                     fmt::join(names, "', '"));
}

}  // namespace

void check_pair_functions(const std::optional<LabelAwareOptions>& options, const PairFunctions* own) {
  if (options) {
    check_functions(options->method, own);
  } else if (own != nullptr) {
    fail(Code::usage, "user-supplied pair features need a label-aware kernel; request one");
  }
}

void require_pair_functions(const LabelAware* aware, const PairFunctions* given) {
  const auto* regression = aware != nullptr ? std::get_if<PairRegression>(&aware->estimate) : nullptr;
  const std::vector<std::string> fitted = regression != nullptr ? regression->own : std::vector<std::string>();
  const std::vector<std::string> found = given != nullptr ? given->names : std::vector<std::string>();
  if (fitted == found) return;
  fail(Code::usage, "this kernel was fitted with {}{}", functions_text(fitted),
       found.empty() ? "; pass the same functions for prediction, from Python or C++"
                     : fmt::format(", but got '{}'", fmt::join(found, "', '")));
}

void check_test_kernel(LabelAwareMethod method, const PairSources& sources, Index rows, Index cols, Index samples) {
  if (cols != samples) {
    fail(Code::input, "the kernel of the test samples must be test × train, but is {} by {} for {} training samples{}",
         rows, cols, samples, rows == samples ? "; give its transpose" : "");
  }
  if (sources.test && sources.test->count() != rows) {
    fail(Code::input, "the kernel has {} rows for {} test samples", rows, sources.test->count());
  }
  if (!reads_samples(method)) return;
  if (!sources.test) fail(Code::usage, "{} also needs the test samples; provide them", to_string(method));
  if (sources.train && sources.test->shape.size() != sources.train->shape.size()) {
    fail(Code::input, "test samples have {} values, training samples {}", sources.test->shape.size(),
         sources.train->shape.size());
  }
  check_samples(*sources.test, "test sample");
}

void check_sources(const LabelAware& aware, KernelPart part, const PairSources& sources, Index rows, Index cols) {
  if (part == KernelPart::test) {
    check_test_kernel(aware.method, sources, rows, cols, sources.train ? sources.train->count() : cols);
  } else if (rows != cols) {
    fail(Code::input, "a Gram matrix is square; this one is {} by {}", rows, cols);
  }
  check_sources(aware.method, sources, cols);
  if (reads_samples(aware.method)) require_pair_functions(&aware, sources.own);
}

std::string_view to_string(LabelAwareMethod method) { return method_names[static_cast<std::size_t>(method)]; }
LabelAwareMethod parse_label_aware_method(std::string_view text) {
  return parse_choice<LabelAwareMethod>("label-aware method", method_names, text);
}
std::string_view to_string(PairTarget target) { return target_names[static_cast<std::size_t>(target)]; }
PairTarget parse_pair_target(std::string_view text) {
  return parse_choice<PairTarget>("target of pairs", target_names, text);
}

void LabelAwareOptions::validate() const {
  if (!std::isfinite(ratio) || ratio < 0) {
    fail(Code::usage, "ratio = {}: the share of the label-aware part must be ≥ 0", ratio);
  }
  if (!(distortion > 0 && distortion < 1)) {
    fail(Code::usage, "distortion = {}: must be between 0 and 1", distortion);
  }
}

bool PairSmoother::covers(double kernel) const { return std::abs(kernel - centre) <= half_width * (1 + 1e-12); }

double PairSmoother::operator()(double kernel) const {
  const double t = std::clamp((kernel - centre) / half_width, -1.0, 1.0);
  const auto value = [&](const std::array<double, 3>& c) { return c[0] + t * (c[1] + t * c[2]); };
  return value(numerator) / value(denominator);
}

void LabelAware::validate() const {
  const auto finite = [](double number) { return std::isfinite(number); };
  bool sound = finite(lambda) && lambda >= 0 && finite(ratio) && ratio >= 0;
  if (const auto* smoother = std::get_if<PairSmoother>(&estimate)) {
    sound = sound && !reads_samples(method) && finite(smoother->centre) && finite(smoother->half_width) &&
            smoother->half_width > 0 && std::all_of(smoother->numerator.begin(), smoother->numerator.end(), finite) &&
            std::all_of(smoother->denominator.begin(), smoother->denominator.end(), finite);
    for (const double end : {-1.0, 1.0}) {
      const auto& c = smoother->denominator;
      sound = sound && c[0] + end * c[1] + c[2] > 0 && c[2] <= 0;  // concave, hence positive between the ends as well
    }
  } else {
    const auto& regression = std::get<PairRegression>(estimate);
    const PairBasis& basis = regression.basis;
    const auto all_finite = [&](const double* numbers, Index count) {
      return std::all_of(numbers, numbers + count, finite);
    };
    sound = sound && reads_samples(method) &&
            std::ssize(regression.coefficients) == basis.count() + std::ssize(regression.own) &&
            all_finite(regression.coefficients.data(), std::ssize(regression.coefficients)) &&
            finite(regression.kernel_scale) && regression.kernel_scale > 0 && finite(basis.mean_square) &&
            basis.mean_square > 0 && basis.components.rows() <= PairBasis::most_components &&
            std::ssize(basis.centre) == basis.components.cols() &&
            all_finite(basis.centre.data(), std::ssize(basis.centre)) &&
            all_finite(basis.components.data(), basis.components.rows() * basis.components.cols());
  }
  if (!sound) fail(Code::input, "the label-aware part of the kernel is damaged");
}

namespace {

/// Fits everything but λ; sets `share` to λ·Σ|Z|. `keep` as for fit_pair_regression.
LabelAware fit_estimate(const GramMatrix& kernel, const PairSources& sources, std::span<const Index> labels,
                        Index classes, const LabelAwareOptions& options, double& share, EngineMatrix* keep,
                        Progress* progress) {
  options.validate();
  kernel.check();
  check_labels(labels, classes, kernel.samples());
  check_sources(options.method, sources, kernel.samples());
  const Index occurring = [&] {
    std::vector<Index> all(labels.begin(), labels.end());
    std::sort(all.begin(), all.end());
    return std::unique(all.begin(), all.end()) - all.begin();
  }();
  LabelAware aware{.method = options.method,
                   .target = options.target.value_or(occurring == 2 ? PairTarget::opposite : PairTarget::same),
                   .ratio = options.ratio,
                   .estimate = PairSmoother{}};
  const KernelRange range = kernel_range(kernel, progress);
  if (!reads_samples(options.method)) {
    aware.estimate =
        fit_smoother(kernel, range, labels, aware.target, options.method == LabelAwareMethod::kr2, progress);
  } else {
    aware.estimate = fit_pair_regression(kernel, range, sources, labels, aware.target, options, keep, progress);
  }
  share = options.ratio * range.magnitude;
  return aware;
}

}  // namespace

double checked_magnitude(double sum) {
  if (sum > 0 && std::isfinite(sum)) return sum;
  fail(Code::numerical, "the sum of the label-aware part over all pairs of samples is {}: the fit to the labels failed",
       sum);
}

LabelAware fit_label_aware(const GramMatrix& kernel, const PairSources& sources, std::span<const Index> labels,
                           Index classes, const LabelAwareOptions& options, Progress* progress) {
  const Interruptible interruptible(progress);
  double share = 0;
  LabelAware aware = fit_estimate(kernel, sources, labels, classes, options, share, nullptr, progress);
  const PairEstimator z(aware, KernelPart::train, sources);
  aware.lambda = share / checked_magnitude(magnitude(z, kernel, progress));
  return aware;
}

Index add_label_aware(const LabelAware& aware, KernelPart part, EngineMatrix& kernel, const PairSources& sources,
                      const Engine& engine, Progress* progress) {
  const Interruptible interruptible(progress);
  check_sources(aware, part, sources, kernel.rows(), kernel.cols());
  const PairEstimator z(aware, part, sources);
  return part == KernelPart::test ? add_rows(z, aware.lambda, kernel, engine, progress)
                                  : add_symmetric(z, aware.lambda, kernel, engine, progress);
}

Index add_label_aware(const LabelAware& aware, KernelPart part, AnyMatrix& kernel, const PairSources& sources,
                      const Engine& engine, Progress* progress) {
  OnEngine moved(kernel, engine);
  const Index beyond = add_label_aware(aware, part, moved.matrix(), sources, engine, progress);
  moved.read_back();
  return beyond;
}

std::vector<double> label_aware_diagonal(const LabelAware& aware, std::span<const double> theta,
                                         const std::optional<SampleView>& x, const PairFunctions* own) {
  const PairSources sources{.train = x, .own = own};
  if (x) check_samples(*x, "test sample");
  check_sources(aware, KernelPart::train, sources, std::ssize(theta), std::ssize(theta));
  const PairEstimator z(aware, KernelPart::train, sources);
  std::vector<double> result(theta.begin(), theta.end());
  for (Index i = 0; i < std::ssize(theta); ++i) {
    double value = 0;
    const Range one{i, i + 1};
    (void)z.evaluate({one, one}, z.left_panel(one, true), z.right_panel(one, true), {&theta[usize(i)], 1, 1, 1},
                     {&value, 1, 1, 1});
    result[usize(i)] += aware.lambda * value;
  }
  return result;
}

LabelAwareKernels make_label_aware(EngineMatrix& train, EngineMatrix* test, const PairSources& sources,
                                   std::span<const Index> labels, Index classes, const LabelAwareOptions& options,
                                   const Engine& engine, Progress* progress) {
  const Interruptible interruptible(progress);
  if (test != nullptr) check_test_kernel(options.method, sources, test->rows(), test->cols(), train.rows());
  LabelAwareKernels result;
  // Distances are cached in the lower triangle of a float64 matrix; float32 would round them.
  const bool kept = train.precision() == Precision::f64 &&
                    (options.method == LabelAwareMethod::linear1 || options.method == LabelAwareMethod::linear2);
  double share = 0;
  result.aware = fit_estimate(GramMatrix(train, engine), sources, labels, classes, options, share,
                              kept ? &train : nullptr, progress);
  result.repair.psd = options.psd;
  const PairEstimator z(result.aware, KernelPart::train, sources);
  result.aware.lambda = add_share(z, share, kept, train, result.beyond, engine, progress);
  if (test != nullptr) {
    result.beyond += add_label_aware(result.aware, KernelPart::test, *test, sources, engine, progress);
  }
  if (options.psd == Psd::none) return result;
  result.repair = repair_spectrum(train, options.psd, engine, progress);
  if (test != nullptr) project_test(result.repair, *test, engine);
  return result;
}

LabelAwareKernels make_label_aware(AnyMatrix& train, AnyMatrix* test, const PairSources& sources,
                                   std::span<const Index> labels, Index classes, const LabelAwareOptions& options,
                                   const Engine& engine, Progress* progress) {
  OnEngine moved(train, engine);
  std::optional<OnEngine> moved_test;
  if (test != nullptr) moved_test.emplace(*test, engine);
  LabelAwareKernels result = make_label_aware(moved.matrix(), moved_test ? &moved_test->matrix() : nullptr, sources,
                                              labels, classes, options, engine, progress);
  moved.read_back();
  if (moved_test) moved_test->read_back();
  return result;
}

}  // namespace widelimit
