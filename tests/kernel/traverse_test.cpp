#include "widelimit/kernel/traverse.hpp"

#include "widelimit/network/network.hpp"

#include "tests/kernel/gram_file_fixture.hpp"

#include <set>

namespace widelimit::test {
namespace {

struct Visited {
  std::set<std::pair<Index, Index>> pairs;
  Index again = 0;

  void add(Range rows, Range cols, bool upper) {
    for (Index i = rows.begin; i < rows.end; ++i) {
      for (Index j = upper ? i : cols.begin; j < cols.end; ++j) again += pairs.emplace(i, j).second ? 0 : 1;
    }
  }
};

TEST(Traversal, MeetsEachPairOnce) {
  const Matrix<double> x = normal_rows(37, 4, 1);
  const Matrix<double> z = normal_rows(11, 4, 2);
  const SampleView train(x.view(), {1, 1, 4});
  const SampleView test(z.view(), {1, 1, 4});
  const Recipe recipe = lower(Network::parse("fc:1"), train.shape, RecipeOutputs::ntk);
  for (const bool symmetric : {true, false}) {
    const GramTask task{&recipe, train, symmetric ? std::nullopt : std::optional(test), Precision::f64};
    for (const PanelPlan& plan : {one_panel(task), PanelPlan{8, 3, 0}, PanelPlan{36, 1, 0}, PanelPlan{1, 37, 0}}) {
      Visited visited;
      Traversal(task, plan, *cpu).each_pair([&](const Panel& rows, const Panel& cols) {
        EXPECT_LE(rows.range().size(), plan.rows);
        EXPECT_EQ(rows.loaded().count(), rows.range().size());
        EXPECT_EQ(cols.loaded().count(), cols.range().size());
        EXPECT_EQ(cols.within({cols.range().begin, cols.range().end}).begin, 0);
        visited.add(rows.range(), cols.range(), symmetric && rows.range().begin == cols.range().begin);
      });
      EXPECT_EQ(visited.again, 0);
      EXPECT_EQ(std::ssize(visited.pairs), task.pairs());
    }
  }
}

TEST(Traversal, SaysWhereThePanelsOfAFailureBegin) {
  const Matrix<double> x = normal_rows(9, 4, 1);
  const SampleView samples(x.view(), {1, 1, 4});
  const Recipe recipe = lower(Network::parse("fc:1"), samples.shape, RecipeOutputs::ntk);
  const GramTask task{&recipe, samples, std::nullopt, Precision::f64};
  const Error error = thrown_error([&] {
    Traversal(task, {4, 4, 0}, *cpu).each_pair([](const Panel& rows, const Panel& cols) {
      if (rows.range().begin == 4 && cols.range().begin == 8) fail(Code::numerical, "pair (0, 0) overflows");
    });
  });
  EXPECT_NE(std::string(error.what()).find("rows counted from sample 4, columns from sample 8"), std::string::npos);
}

}  // namespace
}  // namespace widelimit::test
