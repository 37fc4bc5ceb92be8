#include "widelimit/certificate/ball.hpp"

#include "widelimit/base/choice.hpp"

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 2> norm_names{"linf", "l2"};

}  // namespace

std::string_view to_string(Norm norm) { return norm_names[static_cast<std::size_t>(norm)]; }
Norm parse_norm(std::string_view text) { return parse_choice<Norm>("norm", norm_names, text); }

void check_box(const Box& box, MatrixView<const double> points, Index first) {
  for (Index i = 0; i < points.rows; ++i) {
    for (Index j = 0; j < points.cols; ++j) {
      if (points(i, j) >= box.low && points(i, j) <= box.high) continue;
      fail(Code::input,
           "sample {} has the value {} at feature {} after scaling, outside the box [{}, {}]; give the box that all "
           "samples lie in, or none",
           first + i, points(i, j), j, box.low, box.high);
    }
  }
}

}  // namespace widelimit
