#include "tests/cuda/host_device.hpp"

#include "widelimit/engine/cuda/cone/chain_element.hpp"
#include "widelimit/engine/cuda/cone/cone_device.hpp"
#include "widelimit/engine/cuda/cone/cone_entry.hpp"

#include <array>
#include <cmath>

namespace widelimit::test {

namespace {

using cuda::ChainChangeCall;
using cuda::ChainEntryCall;
using cuda::ChainSlopeCall;
using cuda::ChainSlopeSums;
using cuda::ChainSumCall;
using cuda::ConeBoundCall;
using cuda::ConeEntryCall;
using cuda::ConeResidualCall;
using cuda::ConeRowCall;
using cuda::ConeSlopeCall;
using cuda::ConeSlopeSums;

template <typename T, std::size_t N>
T tree_sum(std::array<T, N> parts) {
  for (std::size_t half = N / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) parts[k] = parts[k] + parts[k + half];
  }
  return parts[0];
}

using Parts = std::array<double, cuda::cone_parts>;
constexpr auto parts = static_cast<Index>(cuda::cone_parts);
constexpr Index lanes = 32;

class HostCones final : public cuda::ConeDevice {
 public:
  void bound_sums(const ConeBoundCall& call) override {
    for (Index q = 0; q < call.sums; ++q) {
      Parts sums{};
      for (Index i = 0; i < call.support; ++i) {
        double& sum = sums[usize(i % parts)];
        sum = cuda::add_bound(call, call.requests[q], i, sum);
      }
      call.to[q] = tree_sum(sums);
    }
  }
  void entries(const ConeEntryCall& call) override {
    for (Index k = 0; k < call.rows * call.support; ++k) {
      call.to[k] = cuda::cone_entry(call, k / call.support, k % call.support);
    }
  }
  void slopes(const ConeSlopeCall& call) override {
    for (Index k = 0; k < call.rows; ++k) {
      Parts values{}, along{};
      for (Index i = 0; i < call.support; ++i) {
        ConeSlopeSums sums{values[usize(i % parts)], along[usize(i % parts)]};
        cuda::add_slope(call, k, i, sums);
        values[usize(i % parts)] = sums.value, along[usize(i % parts)] = sums.along;
      }
      const double norm = call.norms[k];
      call.values[k] = norm * tree_sum(values);
      call.along[k] = norm > 0 ? tree_sum(along) / norm : 0;
    }
  }
  void residuals(const ConeResidualCall& call) override {
    for (Index place = 0; place < call.balls * call.support; ++place) {
      const Index k = place / call.support, i = place % call.support;
      std::array<double, lanes> inner{}, reach{};
      for (Index j = 0; j < call.features; ++j) {
        inner[usize(j % lanes)] = cuda::add_inner(call, k, i, j, inner[usize(j % lanes)]);
      }
      call.inner[place] = tree_sum(inner);
      const double t = cuda::place_of(call, k, i, call.inner[place]);
      for (Index j = 0; j < call.features; ++j) {
        reach[usize(j % lanes)] = cuda::add_reach(call, k, i, j, t, reach[usize(j % lanes)]);
      }
      call.reach[place] = call.euclidean ? std::sqrt(tree_sum(reach)) : tree_sum(reach);
    }
  }
  void residual_rows(const ConeRowCall& call) override {
    const Index dimension = call.features + 1;
    for (Index k = 0; k < call.support * dimension; ++k) {
      call.rows[k] = cuda::residual_entry(call, k / dimension, k % dimension);
    }
  }
  void chain_entries(const ChainEntryCall& call) override {
    for (Index place = 0; place < call.pairs.balls * call.pairs.support; ++place) cuda::write_entry(call, place);
  }
  void chain_sums(const ChainSumCall& call) override {
    for (Index q = 0; q < call.sums; ++q) {
      std::array<Interval, cuda::cone_parts> sums{};
      for (Index i = 0; i < call.support; ++i) {
        Interval& sum = sums[usize(i % parts)];
        sum = cuda::add_enclosed(call, call.requests[q], i, sum);
      }
      call.to[q] = tree_sum(sums);
    }
  }
  void chain_changes(const ChainChangeCall& call) override {
    for (Index place = 0; place < call.pairs.balls * call.pairs.support; ++place) cuda::write_change(call, place);
  }
  void chain_slopes(const ChainSlopeCall& call) override {
    for (Index k = 0; k < call.rows; ++k) {
      Parts values{}, along{};
      for (Index i = 0; i < call.support; ++i) {
        ChainSlopeSums sums{values[usize(i % parts)], along[usize(i % parts)]};
        cuda::add_chain_slope(call, k, i, sums);
        values[usize(i % parts)] = sums.value, along[usize(i % parts)] = sums.along;
      }
      call.values[k] = tree_sum(values);
      call.along[k] = tree_sum(along);
    }
  }
};

}  // namespace

std::unique_ptr<cuda::ConeDevice> make_host_cones() { return std::make_unique<HostCones>(); }

}  // namespace widelimit::test
