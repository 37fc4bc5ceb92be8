#include "widelimit/analysis/spectrum/label_choice.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/data/labels/label_noise.hpp"
#include "widelimit/data/preparation/preprocess.hpp"
#include "widelimit/finite/training/targets.hpp"

#include <algorithm>
#include <charconv>

namespace widelimit {

namespace {

/// Random stream for permuted targets, separate from the streams of weights and batches, which share the user's seed.
constexpr std::uint64_t replaced_stream = (std::uint64_t{1} << 50) + 3;

constexpr std::string_view random_word = "random";

/// Worst labels: maximum number of flips per sample, and minimum gain of a flip relative to tr K⁻¹.
constexpr Index most_changes = 100;
constexpr double least_gain = 1e-12;

void check_share(double share) {
  if (!(share >= 0 && share <= 1)) fail(Code::usage, "the share of replaced labels is {:g}; choose 0 to 1", share);
}

/// A class drawn with probability ρ from all C differs from the given one with probability ρ(C − 1)/C.
Matrix<double> class_columns(const GivenLabels& given, double share, std::uint64_t seed) {
  const auto classes = static_cast<double>(given.classes);
  const std::vector<Index> drawn =
      share > 0 ? flip_labels(given.classes_of, given.classes, share * (classes - 1) / classes, seed)
                : std::vector<Index>(given.classes_of.begin(), given.classes_of.end());
  return class_targets(drawn, given.classes, {.kind = LossKind::squared});
}

/// Permutes the rows that are chosen with probability ρ.
Matrix<double> moved_values(MatrixView<const double> values, double share, std::uint64_t seed) {
  Matrix<double> result(values.rows, values.cols, Content::unset);
  std::vector<Index> chosen;
  const Random chance(seed, replaced_stream);
  for (Index i = 0; i < values.rows; ++i) {
    std::copy_n(values.row(i), values.cols, result.view().row(i));
    if (chance.uniform(static_cast<std::uint64_t>(i)) < share) chosen.push_back(i);
  }
  const std::vector<Index> order = permutation(std::ssize(chosen), seed, replaced_stream);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    std::copy_n(values.row(chosen[usize(order[k])]), values.cols, result.view().row(chosen[k]));
  }
  return result;
}

/// A flip of y_i increases yᵀBy, B = K⁻¹, by 4(B_ii − y_i(By)_i).
Matrix<double> worst_labels(const KernelSpectrum& spectrum) {
  const Index n = spectrum.samples();
  const std::vector<double> slowest = spectrum.eigenvector(n - 1);
  Matrix<double> y(n, 1, Content::unset);
  for (Index i = 0; i < n; ++i) y(i, 0) = slowest[usize(i)] < 0 ? -1 : 1;
  if (spectrum.rank() == 0) return y;
  const Matrix<double> b = spectrum.inverse();
  std::vector<double> product(usize(n), 0.0);
  double trace = 0;
  for (Index i = 0; i < n; ++i) {
    trace += b(i, i);
    for (Index j = 0; j < n; ++j) product[usize(i)] += b(i, j) * y(j, 0);
  }
  // Each flip increases yᵀBy by more than rounding, so no labels repeat; the limit is a safeguard.
  for (Index change = 0; change < most_changes * n; ++change) {
    Index best = 0;
    double most = 0;
    for (Index i = 0; i < n; ++i) {
      const double gain = b(i, i) - y(i, 0) * product[usize(i)];
      if (gain > most) {
        most = gain;
        best = i;
      }
    }
    if (!(most > least_gain * trace)) break;
    y(best, 0) = -y(best, 0);
    for (Index i = 0; i < n; ++i) product[usize(i)] += 2 * y(best, 0) * b(i, best);
  }
  return y;
}

}  // namespace

LabelChoice parse_label_choice(std::string_view text) {
  if (text == "true") return {.kind = LabelKind::given};
  if (text == "worst") return {.kind = LabelKind::worst};
  if (text == random_word) return {.kind = LabelKind::random};
  if (text.starts_with(random_word) && text.size() > random_word.size() && text[random_word.size()] == ':') {
    const std::string_view number = text.substr(random_word.size() + 1);
    LabelChoice choice{.kind = LabelKind::random};
    const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), choice.share);
    if (failure == std::errc{} && end == number.data() + number.size()) {
      check_share(choice.share);
      return choice;
    }
  }
  fail(Code::usage, "labels '{}' are unknown; choose true, random, random:SHARE with a share from 0 to 1, or worst",
       text);
}

std::string to_string(const LabelChoice& choice) {
  if (choice.kind == LabelKind::given) return "true";
  if (choice.kind == LabelKind::worst) return "worst";
  return choice.share == 1 ? std::string(random_word) : fmt::format("{}:{}", random_word, choice.share);
}

Matrix<double> label_targets(const LabelChoice& choice, const GivenLabels& given, const KernelSpectrum& spectrum,
                             std::uint64_t seed) {
  check_share(choice.share);
  if (choice.kind == LabelKind::worst) return worst_labels(spectrum);
  const bool numbers = given.classes_of.empty();
  const Index count = numbers ? given.values.rows : std::ssize(given.classes_of);
  if (count != spectrum.samples()) fail(Code::input, "{} labels for {} samples", count, spectrum.samples());
  const double share = choice.kind == LabelKind::given ? 0 : choice.share;
  return numbers ? moved_values(given.values, share, seed) : class_columns(given, share, seed);
}

}  // namespace widelimit
