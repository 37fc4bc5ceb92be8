#include "widelimit/certificate/convex/expansion_bound.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/cone/side_bound.hpp"

#include <map>
#include <utility>

namespace widelimit {

namespace {

/// Forms of one ball, each made when its functional is asked for.
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
    return forms_.try_emplace(functional, parts_, ball_, around_->expand(functionals_[at(functional)])).first->second;
  }

  ConvexParts parts_;
  std::span<const Functional> functionals_;
  Ball ball_;
  std::unique_ptr<BallExpander> around_;
  mutable std::map<Index, ConvexForm> forms_;
};

class ExpansionBound final : public LowerBound {
 public:
  ExpansionBound(std::unique_ptr<Expander> expander, std::span<const Functional> functionals, int threads)
      : expander_(std::move(expander)), functionals_(functionals), threads_(threads) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    const BallGroups groups = group_balls(functionals_, queries);
    std::vector<double> bounds(queries.size());
    parallel_for(std::ssize(groups.balls), team_size(threads_), [&](Index k) {
      const ExpansionBoundWithin ball(*expander_, functionals_, groups.balls[at(k)]);
      for (Index q = groups.first[at(k)]; q < groups.first[at(k + 1)]; ++q) {
        bounds[at(q)] = ball.evaluate(queries.subspan(at(q), 1)).front();
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
  int threads_;
};

}  // namespace

std::unique_ptr<LowerBound> make_expansion_bound(std::unique_ptr<Expander> expander,
                                                 std::span<const Functional> functionals, int threads) {
  return std::make_unique<ExpansionBound>(std::move(expander), functionals, threads);
}

}  // namespace widelimit
