#pragma once

#include "widelimit/engine/cones.hpp"
#include "widelimit/engine/cuda/device_memory.hpp"

#include <memory>
#include <mutex>

namespace widelimit::cuda {

/// Cones on one device. Balls, weights and sums are transferred per call; matrices stay on the device.
class CudaCones final : public Cones {
 public:
  explicit CudaCones(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  void bound_sums(const ConeProfile& profile, ConeRule rule, const ConeRanges& ranges, std::span<const ConeBall> balls,
                  const EngineMatrix& weights, std::span<const ConeSum> sums, double* to) const override;
  [[nodiscard]] double additions(Index support) const override;
  void entries(const host::ConeChain& chain, const ConePairs& pairs, EngineMatrix& to) const override;
  void slopes(const host::ConeChain& chain, double most, const EngineMatrix& weights, std::span<const Index> which,
              std::span<const double> norms, EngineMatrix& inner, double* values, double* along) const override;
  void residuals(const EngineMatrix& directions, const host::ResidualFrame& frame, bool euclidean, double* inner,
                 double* reach) const override;
  void squares(const EngineMatrix& directions, const host::ResidualFrame& frame, std::span<const double> t,
               std::span<const double> w, double last, MatrixView<double> b) const override;
  void enclose_sums(const ChainBalls& balls, const EngineMatrix& weights, std::span<const ConeSum> sums,
                    Interval* to) const override;
  void enclose_changes(const ChainBalls& balls, bool biased, EntryChange* to) const override;
  void chain_slopes(const ChainView& chain, const EngineMatrix& weights, std::span<const Index> which,
                    std::span<const double> norms, std::span<const double> lengths, EngineMatrix& inner, double* values,
                    double* along) const override;

 private:
  class PlacedBalls;

  [[nodiscard]] const double* numbers(const EngineMatrix& a) const;
  template <typename T>
  [[nodiscard]] DeviceBuffer copied(std::span<const T> values) const {
    return DeviceBuffer::of(device_, values);
  }

  std::shared_ptr<Device> device_;
  mutable std::mutex forming_;  ///< serialises `squares`, whose rows are the largest scratch buffer
};

}  // namespace widelimit::cuda
