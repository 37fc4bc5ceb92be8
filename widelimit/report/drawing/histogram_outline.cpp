#include "widelimit/report/drawing/histogram_outline.hpp"

#include <algorithm>

namespace widelimit {

Series histogram_outline(const std::string& name, const Histogram& histogram, std::size_t samples) {
  Series line{.name = name, .stroke = Stroke::line};
  const auto add = [&](double x, double y) {
    line.x.push_back(x);
    line.y.push_back(y);
  };
  const Index bins = std::ssize(histogram.counts);
  add(histogram.edge(0), 0);
  for (Index b = 0; b < bins; ++b) {
    const double share = static_cast<double>(histogram.counts[static_cast<std::size_t>(b)]) /
                         static_cast<double>(std::max<std::size_t>(samples, 1));
    add(histogram.edge(b), share);
    add(histogram.edge(b + 1), share);
  }
  add(histogram.edge(bins), 0);
  return line;
}

}  // namespace widelimit
