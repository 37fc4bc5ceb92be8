#include "widelimit/certificate/convex/expansion_bound.hpp"

#include "widelimit/certificate/binary_scale.hpp"
#include "widelimit/certificate/convex/quadratic_form.hpp"
#include "widelimit/certificate/lower_bound.hpp"
#include "widelimit/engine/enclosure/interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace widelimit {

namespace {

/// Maximum number of features for the matrix of squares, which needs n² doubles per thread.
constexpr Index most_features = 4096;
/// Fraction of f at the centre: if the first-order bound exceeds it, it is used without second order.
constexpr double least_linear_fraction = 0.8;
/// Fraction of f at the centre: squares whose total effect is smaller are not summed.
constexpr double negligible_part = 1e-3;
// For an ℓ2 ball: ‖(z/δ)cos φ‖² + ((ν/ν_max)sin φ)² ≤ 1.
constexpr double form_sine = 0.125, form_cosine_below = 0.99215;

}  // namespace

ConvexForm::ConvexForm(const ConvexParts& parts, const Ball& ball, Expansion expansion)
    : ball_(ball), expansion_(std::move(expansion)), first_(expansion_.first_order(parts.euclidean, ball.radius)) {
  const bool enough = !expansion_.bounded || first_ > least_linear_fraction * expansion_.constant;
  if (!enough && std::ssize(expansion_.half) <= most_features) form_matrix(parts);
}

void ConvexForm::form_matrix(const ConvexParts& parts) {
  const std::size_t size = expansion_.half.size();
  scale_.resize(size + 1);
  g_.resize(size + 1);
  for (std::size_t j = 0; j < size; ++j) {
    scale_[j] = parts.euclidean ? ball_.radius * (1 + 0x1p-50) / form_cosine_below : expansion_.half[j];
    g_[j] = expansion_.gradient[j] * scale_[j];
  }
  scale_[size] = parts.euclidean ? expansion_.nu / form_sine : expansion_.nu;
  // For rise > 0, rise·ν ≥ 0; for an ℓ2 ball this bound is used.
  g_[size] = parts.euclidean ? 0 : std::max(0.0, expansion_.rise) * scale_[size];
  form_ = quadratic_form(expansion_, parts.directions, scale_, parts.euclidean,
                         negligible_part * std::max(0.0, expansion_.constant));
  double moduli = 0;
  for (const double slope : g_) moduli += std::abs(slope);
  error_ = expansion_.error + form_.error + 0x1p-50 * (std::abs(expansion_.constant) + moduli);
  if (expansion_.rise >= 0 || parts.euclidean) return;
  // For rise < 0, rise·ν ≥ rise·‖z‖²/(2‖c‖), a multiple of squares. The rest coordinate has no square of its own.
  const Index kept = parts.directions.kept();
  for (Index j = 0; j < kept; ++j) {
    const double square = expansion_.rise * scale_[usize(j)] * scale_[usize(j)] / (2 * expansion_.centre_norm);
    form_.b(j, j) += square;
    error_ -= 0x1p-44 * square;
  }
}

double ConvexForm::bound(const ConvexParts& parts, double radius) const {
  if (form_.b.rows() == 0) return rescaled(first_);
  const double least = parts.euclidean ? least_in_ball(radius) : least_in_box(parts, radius);
  const double result = expansion_.constant + least - error_;
  return rescaled(std::max(first_, std::isfinite(result) ? result : -std::numeric_limits<double>::infinity()));
}

double ConvexForm::rescaled(double bound) const {
  const double scale = bound > 0 ? expansion_.least_scale : expansion_.largest_scale;
  return unscaled_bound(scale == 1 ? bound : below(scale * bound), expansion_.exponent);
}

/// ‖v‖ is at most radius/ball radius. For rise < 0, ν is taken at its maximum.
double ConvexForm::least_in_ball(double radius) const {
  const double part = std::min(1.0, radius / ball_.radius * (1 + 0x1p-50));
  const double falls = std::min(0.0, expansion_.rise) * expansion_.nu * part * part * (1 + 0x1p-44);
  return falls + ball_minimum(g_, form_.b.view(), part);
}

/// Computes the ranges of z_j/scale_j over the smaller ball ∩ box, whose centre may differ.
double ConvexForm::least_in_box(const ConvexParts& parts, double radius) const {
  const Surrounding box = parts.ranges.surrounding({.point = ball_.point, .radius = radius});
  const std::size_t features = box.centre.size();
  std::vector<double> low(features), high(features), squares(features);
  double length = 0;
  for (std::size_t j = 0; j < features; ++j) {
    const double slack = 0x1p-50 * (std::abs(box.centre[j]) + std::abs(expansion_.centre[j]) + box.half[j]);
    low[j] = box.centre[j] - box.half[j] - expansion_.centre[j] - slack;
    high[j] = box.centre[j] + box.half[j] - expansion_.centre[j] + slack;
    squares[j] = std::max(low[j] * low[j], high[j] * high[j]);
    length += squares[j];
  }
  const ReducedDirections& directions = parts.directions;
  const double rest = directions.rest_length(expansion_.direction);
  const auto together = [&](bool larger) {
    return rest > 0 ? directions.rest_sum(expansion_.direction, low, high, larger) / rest : 0;
  };
  const std::vector<double> from = directions.keep(low, together(false)), to = directions.keep(high, together(true));
  const double out = ReducedDirections::slack(features);
  std::vector<Interval> ends(scale_.size(), {-1, 1});
  for (std::size_t j = 0; j < from.size(); ++j) {
    if (!(scale_[j] > 0)) continue;
    ends[j].low = std::clamp(from[j] / scale_[j] - out, -1.0, 1.0);
    ends[j].high = std::clamp(to[j] / scale_[j] + out, -1.0, 1.0);
  }
  ends.back() = {.low = 0, .high = std::min(1.0, length / (2 * expansion_.centre_norm * expansion_.nu) * (1 + out))};
  double falls = 0;
  if (expansion_.rise < 0) {
    falls = expansion_.rise * directions.rest_total(squares) / (2 * expansion_.centre_norm) * (1 + out);
  }
  return falls + box_minimum(g_, form_.b.view(), ends);
}

namespace {

/// Forms of one ball, created lazily per functional.
class ExpansionBoundWithin final : public LowerBound {
 public:
  ExpansionBoundWithin(const Expander& expander, std::span<const Functional> functionals, const Ball& ball)
      : parts_(expander.parts()), functionals_(functionals), ball_(ball), around_(expander.around(ball)) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    std::vector<double> bounds;
    for (const BallQuery& query : queries) bounds.push_back(form_of(query.functional).bound(parts_, query.radius));
    return bounds;
  }

 private:
  [[nodiscard]] const ConvexForm& form_of(Index functional) const {
    const auto known = forms_.find(functional);
    if (known != forms_.end()) return known->second;
    return forms_.try_emplace(functional, parts_, ball_, around_->expand(functionals_[usize(functional)]))
        .first->second;
  }

  ConvexParts parts_;
  std::span<const Functional> functionals_;
  Ball ball_;
  std::unique_ptr<BallExpander> around_;
  mutable std::map<Index, ConvexForm> forms_;
};

class ExpansionBound final : public LowerBound {
 public:
  ExpansionBound(std::unique_ptr<Expander> expander, std::span<const Functional> functionals, const Engine& engine)
      : expander_(std::move(expander)), functionals_(functionals), engine_(engine) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    const BallGroups groups = group_balls(functionals_, queries);
    std::vector<double> bounds(queries.size());
    engine_.for_each(std::ssize(groups.balls), [&](Index k) {
      const ExpansionBoundWithin ball(*expander_, functionals_, groups.balls[usize(k)]);
      for (Index q = groups.first[usize(k)]; q < groups.first[usize(k + 1)]; ++q) {
        bounds[usize(q)] = ball.evaluate(queries.subspan(usize(q), 1)).front();
      }
    });
    return bounds;
  }
  [[nodiscard]] std::unique_ptr<LowerBound> within(const Ball& largest) const override {
    return std::make_unique<ExpansionBoundWithin>(*expander_, functionals_, largest);
  }
  [[nodiscard]] bool nests() const override { return true; }

 private:
  std::unique_ptr<Expander> expander_;
  std::span<const Functional> functionals_;
  const Engine& engine_;
};

}  // namespace

std::unique_ptr<LowerBound> make_expansion_bound(std::unique_ptr<Expander> expander,
                                                 std::span<const Functional> functionals, const Engine& engine) {
  return std::make_unique<ExpansionBound>(std::move(expander), functionals, engine);
}

}  // namespace widelimit
