#pragma once

#include "widelimit/engine/enclosure/layer_enclosures.hpp"

#include <utility>

namespace widelimit {

/// EnclosurePasses on a Machine, i.e. a device or the host. The machine provides each(count, pass) for elementwise
/// passes, rows(count, pass) for rowwise passes, and scratch(bytes), owned by the holder of lock(), with upload(from,
/// bytes, to). Optionally it has cells(rows, cols, pass) for passes over matrix entries.
template <typename Machine>
class MachineEnclosures final : public EnclosurePasses {
 public:
  explicit MachineEnclosures(Machine machine) : machine_(std::move(machine)) {}

  void take_columns(WeightMap map, const WeightColumns<float>& from, double* to) override { take(map, from, to); }
  void take_columns(WeightMap map, const WeightColumns<double>& from, double* to) override { take(map, from, to); }
  void column_distances(const WeightColumns<float>& from, Index c, double* to) override {
    cells(from.rows, from.cols, enclosing::ColumnDistances<float>{from, c, to});
  }
  void column_distances(const WeightColumns<double>& from, Index c, double* to) override {
    cells(from.rows, from.cols, enclosing::ColumnDistances<double>{from, c, to});
  }
  void widen(double g, const ConstEnclosureView& a, Index count, double* to) override {
    machine_.each(count, enclosing::Widen{g, a, to});
  }
  void round_up(double g, double least, const double* bias, Index rows, Index cols, double* radius) override {
    cells(rows, cols, enclosing::RoundUp{g, least, bias, cols, radius});
  }
  void first_layer(const FirstLayerRows& rows, const EnclosureView& to) override {
    [[maybe_unused]] const auto lock = machine_.lock();
    auto* const reach = static_cast<double*>(machine_.scratch(rows.reach.size_bytes() + rows.points.size_bytes()));
    auto* const points = static_cast<Index*>(static_cast<void*>(reach + rows.reach.size()));
    machine_.upload(rows.reach.data(), rows.reach.size_bytes(), reach);
    machine_.upload(rows.points.data(), rows.points.size_bytes(), points);
    cells(static_cast<Index>(rows.points.size()), rows.size,
          enclosing::FirstLayerBalls{points, reach, rows.centres, rows.unit, rows.size, rows.g, to});
  }

  void activate(const ScalarFunction& phi, Index count, const EnclosureView& values) override {
    if (phi.phi == Phi::relu) return machine_.each(count, enclosing::EncloseRelu{values});
    machine_.each(count, enclosing::EncloseActivation{phi, values});
  }
  void normalise(Index rows, Index cols, const EnclosureView& values) override {
    machine_.rows(rows, enclosing::EncloseLayerNorm{summation_error(cols), cols, values});
  }
  void scale(double by, Index count, const EnclosureView& values) override {
    machine_.each(count, enclosing::EncloseScale{by, values});
  }
  void add(const ConstEnclosureView& other, Index count, const EnclosureView& values) override {
    machine_.each(count, enclosing::EncloseSum{other, values});
  }
  void to_ends(Index count, const EnclosureView& values) override { machine_.each(count, enclosing::ToEnds{values}); }
  void from_ends(Index count, const EnclosureView& values) override {
    machine_.each(count, enclosing::FromEnds{values});
  }

  void add_centres(const ConstEnclosureView& other, Index count, const EnclosureView& values) override {
    machine_.each(count, enclosing::AddCentres{other, values});
  }
  void subtract(Index count, const EnclosedPairView& pair) override { machine_.each(count, enclosing::Subtract{pair}); }
  void cut(Index count, const EnclosedPairView& pair) override { machine_.each(count, enclosing::CutDifference{pair}); }
  void activate_difference(Phi phi, const Interval& slope, Index count, const EnclosedPairView& pair) override {
    machine_.each(count, enclosing::ActivateDifference{phi == Phi::relu, slope, pair});
  }

 private:
  template <typename Pass>
  void cells(Index rows, Index cols, const Pass& pass) {
    if constexpr (requires { machine_.cells(rows, cols, pass); }) {
      machine_.cells(rows, cols, pass);
    } else {
      machine_.each(rows * cols, enclosing::Cells<Pass>{cols, pass});
    }
  }
  template <std::floating_point T>
  void take(WeightMap map, const WeightColumns<T>& from, double* to) {
    switch (map) {
      case WeightMap::itself:
        return cells(from.rows, from.width, enclosing::TakeColumns<T, WeightMap::itself>{from, to});
      case WeightMap::modulus:
        return cells(from.rows, from.width, enclosing::TakeColumns<T, WeightMap::modulus>{from, to});
      case WeightMap::square:
        return cells(from.rows, from.width, enclosing::TakeColumns<T, WeightMap::square>{from, to});
    }
  }

  Machine machine_;
};

}  // namespace widelimit
