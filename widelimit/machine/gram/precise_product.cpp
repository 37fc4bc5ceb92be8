#include "widelimit/machine/gram/precise_product.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/base/shared_progress.hpp"
#include "widelimit/engine/cpu/algebra/compensated_pass.hpp"

#include <algorithm>
#include <vector>

namespace widelimit {

namespace {

/// Entries whose sums are made together: they stay in the first-level cache while the rows of K go by.
constexpr Index entries_at_once = 1024;
/// Rows between two looks whether to stop.
constexpr Index rows_of_a_look = 1024;

}  // namespace

void multiply_precisely(const AnyView& k, MatrixView<const double> v, MatrixView<double> out, int threads,
                        Progress* progress) {
  std::visit(
      [&](const auto& m) {
        const Index strips = (m.cols + entries_at_once - 1) / entries_at_once;
        SharedProgress shared(progress, strips * v.cols, "strips of a product");
        const auto strip = [&](Index task) {
          const Index begin = task / v.cols * entries_at_once;
          const Index column = task % v.cols;
          const Index count = std::min(entries_at_once, m.cols - begin);
          std::vector<double> high(at(count));
          std::vector<double> low(at(count));
          Pulse pulse(shared.get(), m.rows, "rows");
          for (Index j = 0; j < m.rows; ++j) {
            if (j % rows_of_a_look == 0) pulse.at(j);
            if (v(j, column) != 0) {
              cpu::accumulate(m.row(j) + begin, v(j, column), high.data(), low.data(), count);
            }
          }
          for (Index i = 0; i < count; ++i) out(begin + i, column) = high[at(i)] + low[at(i)];
        };
        parallel_for(strips * v.cols, team_size(threads), strip, [&](Index done) { shared.at(done); });
      },
      k);
}

}  // namespace widelimit
