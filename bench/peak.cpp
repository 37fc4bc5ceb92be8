#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/peak.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once for each instruction set.
#include "bench/peak.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <chrono>

HWY_BEFORE_NAMESPACE();
namespace widelimit::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Ten chains, more than latency times throughput of any processor so far.
double sum_of_chains(long rounds) {
  const hn::CappedTag<float, 16> d;
  const auto b = hn::Set(d, 0.999F);
  const auto c = hn::Set(d, 0.001F);
  auto x0 = hn::Set(d, 0.0F), x1 = hn::Set(d, 0.1F), x2 = hn::Set(d, 0.2F), x3 = hn::Set(d, 0.3F),
       x4 = hn::Set(d, 0.4F), x5 = hn::Set(d, 0.5F), x6 = hn::Set(d, 0.6F), x7 = hn::Set(d, 0.7F),
       x8 = hn::Set(d, 0.8F), x9 = hn::Set(d, 0.9F);
  for (long k = 0; k < rounds; ++k) {
    x0 = hn::MulAdd(x0, b, c), x1 = hn::MulAdd(x1, b, c), x2 = hn::MulAdd(x2, b, c), x3 = hn::MulAdd(x3, b, c);
    x4 = hn::MulAdd(x4, b, c), x5 = hn::MulAdd(x5, b, c), x6 = hn::MulAdd(x6, b, c), x7 = hn::MulAdd(x7, b, c);
    x8 = hn::MulAdd(x8, b, c), x9 = hn::MulAdd(x9, b, c);
  }
  const auto low = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), x4);
  const auto high = hn::Add(hn::Add(hn::Add(x5, x6), hn::Add(x7, x8)), x9);
  return static_cast<double>(hn::GetLane(hn::Add(low, high)));
}
double lanes() { return static_cast<double>(hn::Lanes(hn::CappedTag<float, 16>())); }

}  // namespace widelimit::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::bench {

HWY_EXPORT(sum_of_chains);
HWY_EXPORT(lanes);

double multiply_adds_per_second() {
  constexpr long rounds = 4'000'000;
  double best = 0;
  volatile double sink = 0;
  for (int repeat = 0; repeat < 10; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    sink = sink + HWY_DYNAMIC_DISPATCH(sum_of_chains)(rounds);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, 10.0 * rounds / seconds * HWY_DYNAMIC_DISPATCH(lanes)() / 16);
  }
  return best;
}

}  // namespace widelimit::bench
#endif
