#include "experiments/experiments.hpp"

#include "experiments/tasks/digit_pair.hpp"
#include "widelimit/analysis/hierarchy/hoeffding.hpp"
#include "widelimit/analysis/hierarchy/nth_kernel.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Sums over pairs x ≠ x' of training samples of one kind.
struct PairMeans {
  std::array<double, 3> orders{};
  double whole = 0;
  Index pairs = 0;

  void add(const std::array<double, 3>& one, double value) {
    for (std::size_t o = 0; o < orders.size(); ++o) orders[o] += one[o];
    whole += value;
    ++pairs;
  }
  [[nodiscard]] double mean(double sum) const { return sum / static_cast<double>(std::max<Index>(pairs, 1)); }
};

/// A label-aware term yᵀM(x,x')y, decomposed for every pair of training samples.
struct Decomposition {
  std::array<PairMeans, 2> means;  ///< over pairs of different classes, and of the same class
  double largest = 0;              ///< max |whole|
  double difference = 0;           ///< max |order 0 + order 1 + order 2 − whole|

  void add(bool same, const std::array<double, 3>& orders, double whole) {
    means[same ? 1 : 0].add(orders, whole);
    largest = std::max(largest, std::abs(whole));
    difference = std::max(difference, std::abs(orders[0] + orders[1] + orders[2] - whole));
  }
};

/// Decomposes Z of kernel regression (KR-V1 of LA) as yᵀMy, M_ij = w_ij/Σw with the weights of its definition, and
/// compares with the ratio of quadratics evaluated by the library.
Decomposition of_regression(const Setting& setting, const DigitSamples& digits, const std::vector<double>& means) {
  const SampleView x = digits.data.train.view();
  const Index n = x.count();
  const Network network = Network::parse(setting.text("network"));
  const Gram computed = gram(network, x, {.kind = Kind::ntk, .progress = setting.progress}, setting.engine);
  const auto& theta = std::get<Matrix<double>>(computed.ntk);
  const LabelAware aware = fit_label_aware({view_of(computed.ntk), setting.engine}, {}, digits.data.train.labels, 2,
                                           {.method = LabelAwareMethod::kr1}, setting.progress);
  const auto& smoother = std::get<PairSmoother>(aware.estimate);
  const auto [least, most] = std::minmax_element(theta.data(), theta.data() + n * n);
  const double square = (*most - *least) * (*most - *least);
  Decomposition result;
  Matrix<double> m(n, n);
  for (Index a = 0; a < n; ++a) {
    stop_if_requested(setting.progress);
    for (Index b = a + 1; b < n; ++b) {
      double sum = 0;
      for (Index i = 0; i < n * n; ++i) {
        const double difference = theta(a, b) - theta.data()[i];
        m.data()[i] = square - difference * difference;
        sum += m.data()[i];
      }
      for (Index i = 0; i < n * n; ++i) m.data()[i] /= sum;
      result.add(digits.y[usize(a)] == digits.y[usize(b)], hoeffding_orders(m.view(), digits.y, means),
                 smoother(theta(a, b)));
    }
  }
  return result;
}

/// Σ_ij M_ij E K⁽⁴⁾ of the neural tangent hierarchy, a quadratic form in y for each pair (x,x'). Its matrix is computed
/// by polarisation, q(e_i + e_j) − q(e_i) − q(e_j) = M_ij + M_ji, over the same directions.
class HierarchyForm {
 public:
  HierarchyForm(const Setting& setting, const DigitSamples& digits)
      : setting_(setting),
        x_(digits.data.train.view()),
        activation_(parse_activation(setting.text("activation"))),
        options_{.samples = setting.count("directions", 32), .seed = setting.seed} {
    const Index n = x_.count();
    std::vector<Matrix<double>> single;
    std::vector<double> y(usize(n), 0.0);
    for (Index i = 0; i < n; ++i) {
      y[usize(i)] = 1;
      single.push_back(value(y));
      y[usize(i)] = 0;
    }
    forms_.resize(usize(n * n));
    for (auto& form : forms_) form = Matrix<double>(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < i; ++j) {
        y[usize(i)] = y[usize(j)] = 1;
        const Matrix<double> both = value(y);
        y[usize(i)] = y[usize(j)] = 0;
        for (Index p = 0; p < n * n; ++p) {
          const double half = (both.data()[p] - single[usize(i)].data()[p] - single[usize(j)].data()[p]) / 2;
          forms_[usize(p)](i, j) = forms_[usize(p)](j, i) = half;
        }
      }
      for (Index p = 0; p < n * n; ++p) forms_[usize(p)](i, i) = single[usize(i)].data()[p];
    }
  }

  /// Returns K^NTH − Θ of a network of width 1.
  [[nodiscard]] Matrix<double> value(const std::vector<double>& y) const {
    stop_if_requested(setting_.progress);
    const NthKernel found = nth_kernel(activation_, x_, y, std::nullopt, options_, setting_.engine);
    Matrix<double> correction(x_.count(), x_.count());
    for (Index p = 0; p < x_.count() * x_.count(); ++p) {
      correction.data()[p] = found.train.values.data()[p] - found.train.ntk.data()[p];
    }
    return correction;
  }
  [[nodiscard]] const Matrix<double>& form(Index a, Index b) const { return forms_[usize(a * x_.count() + b)]; }

 private:
  const Setting& setting_;
  SampleView x_;
  Activation activation_;
  NthOptions options_;
  std::vector<Matrix<double>> forms_;
};

Decomposition of_hierarchy(const HierarchyForm& form, const DigitSamples& digits, const std::vector<double>& means) {
  const Matrix<double> whole = form.value(digits.y);
  Decomposition result;
  for (Index a = 0; a < whole.rows(); ++a) {
    for (Index b = a + 1; b < whole.cols(); ++b) {
      result.add(digits.y[usize(a)] == digits.y[usize(b)], hoeffding_orders(form.form(a, b).view(), digits.y, means),
                 whole(a, b));
    }
  }
  return result;
}

/// Adds the rows of one term; returns the largest difference relative to its largest value.
double add_lines(const std::string& term, double share, const Decomposition& found, Table& table, Json& json) {
  const double difference = found.largest > 0 ? found.difference / found.largest : found.difference;
  for (const bool same : {true, false}) {
    const PairMeans& means = found.means[same ? 1 : 0];
    std::vector<Cell> row{term, fmt::format("{:g}", share), same ? "one class" : "two classes"};
    for (const double sum : means.orders) row.emplace_back(fmt::format("{:+.4e}", means.mean(sum)));
    row.emplace_back(fmt::format("{:+.4e}", means.mean(means.whole)));
    row.emplace_back(fmt::format("{:.1e}", difference));
    table.rows.push_back(std::move(row));
    json.push_back({{"term", term},
                    {"share", share},
                    {"same", same},
                    {"pairs", means.pairs},
                    {"orders", {means.mean(means.orders[0]), means.mean(means.orders[1]), means.mean(means.orders[2])}},
                    {"whole", means.mean(means.whole)},
                    {"difference", difference}});
  }
  return difference;
}

Outcome run_hoeffding(const Setting& setting) {
  const std::vector<double> shares = setting.numbers("shares", 0, 1);
  (void)Network::parse(setting.text("network"));
  (void)parse_activation(setting.text("activation"));
  const DigitSamples many = digit_samples(setting, setting.count("samples", 4), 0);
  const DigitSamples few = digit_samples(setting, setting.count("hierarchy-samples", 4), 0);
  const HierarchyForm hierarchy(setting, few);
  Outcome outcome;
  Part part{.heading = "Means over pairs of training samples",
            .table = {.columns = {"term", "share of +1", "pairs of", "order 0", "order 1", "order 2", "whole",
                                  "largest difference"}}};
  Json json = Json::array();
  double largest = 0;
  for (const double share : shares) {
    const auto mean_of = [&](const DigitSamples& digits) {
      return std::vector<double>(digits.y.size(), 2 * share - 1);
    };
    const Decomposition regression = of_regression(setting, many, mean_of(many));
    const Decomposition nth = of_hierarchy(hierarchy, few, mean_of(few));
    largest = std::max(largest, add_lines("KR-V1", share, regression, part.table, json));
    largest = std::max(largest, add_lines("NTH", share, nth, part.table, json));
  }
  part.words = fmt::format(
      "yᵀM(x,x')y for independent labels, +1 with this probability: order 0 does not depend on labels, order 1 depends "
      "on single labels, order 2 on pairs. For balanced classes order 0 is tr M and order 1 is 0. KR-V1: Z on {} "
      "digits and the kernel of {}; NTH: the term of K⁽⁴⁾ on {} digits, {} at width 1, M by polarisation. Whole: the "
      "term without decomposition; difference: of the sum of the three orders, relative to the largest entry.",
      many.y.size(), setting.text("network"), few.y.size(), setting.text("activation"));
  outcome.parts.push_back(std::move(part));
  outcome.results["terms"] = std::move(json);
  outcome.results["largest_difference"] = largest;
  outcome.sentence =
      fmt::format("Orders 0, 1 and 2 sum to the label-aware term up to {:.1e} of its largest entry.", largest);
  return outcome;
}

}  // namespace

Experiment hoeffding_decomposition() {
  return {.name = "hoeffding",
          .summary = "Decomposition of label-aware kernels into parts of no label, single labels and pairs of labels",
          .work = "Chen, He and Su 2020, Label-Aware Neural Tangent Kernel, Lemma 2.2",
          .options = {{"digits", "A,B", "The two digits to classify", "3,8", ""},
                      {"samples", "N", "Samples for kernel regression", "60", "200"},
                      {"network", "NET", "Network of the kernel of kernel regression", "fc:1", ""},
                      {"hierarchy-samples", "N", "Samples for the tangent hierarchy", "8", "16"},
                      {"activation", "PHI", "Activation of the tangent hierarchy", "erf", ""},
                      {"directions", "S", "Number of hidden weight vectors in the expectations", "4096", ""},
                      {"shares", "P,…", "Probabilities of the label +1", "0.5,0.7", ""}},
          .run = run_hoeffding};
}

}  // namespace widelimit::experiment
