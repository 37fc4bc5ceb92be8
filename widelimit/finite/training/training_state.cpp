#include "widelimit/base/checksum.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/trainer.hpp"

/// Suspension and resumption of a training: checkpoints, and the final result.
namespace widelimit {

template <std::floating_point T>
std::uint64_t Trainer<T>::samples_checksum() const {
  std::uint64_t sum = checksum(std::as_bytes(x_.values()));
  for (Index i = 0; i < targets_.rows; ++i) {
    sum = checksum(std::as_bytes(std::span(targets_.row(i), usize(targets_.cols))), sum);
  }
  return sum;
}

/// Weights are moved, not copied; import_state() moves them back.
template <std::floating_point T>
void Trainer<T>::export_state(TrainedNetwork& trained, bool with_state) {
  trained.parameters = std::move(w_);
  trained.start = std::move(start_);
  trained.summary = summary_;
  trained.state.reset();
  if (!with_state) return;
  trained.state = TrainState{.optimiser = options_.optimiser,
                             .velocity = std::move(velocity_),
                             .squares = std::move(squares_),
                             .auxiliary = std::move(aux_),
                             .auxiliary_velocity = std::move(aux_velocity_),
                             .first_loss = first_loss_,
                             .first_objective = first_objective_,
                             .samples = samples_checksum()};
}

template <std::floating_point T>
void Trainer<T>::import_state(TrainedNetwork& trained) {
  w_ = std::move(std::get<Parameters<T>>(trained.parameters));
  start_ = std::move(std::get<Parameters<T>>(trained.start));
  velocity_ = std::move(std::get<Parameters<T>>(trained.state->velocity));
  squares_ = std::move(std::get<Parameters<T>>(trained.state->squares));
  aux_ = std::move(trained.state->auxiliary);
  aux_velocity_ = std::move(trained.state->auxiliary_velocity);
}

template <std::floating_point T>
void Trainer<T>::checkpoint(TrainedNetwork& trained) {
  export_state(trained, true);
  options_.checkpoint(trained);
  import_state(trained);
}

template <std::floating_point T>
bool Trainer<T>::checkpoint_due() const {
  if (!options_.checkpoint || summary_.steps == 0 || summary_.steps == options_.steps) return false;
  constexpr Index parts = 10;
  const Index every =
      options_.checkpoint_every > 0 ? options_.checkpoint_every : std::max<Index>(options_.steps / parts, 1);
  return summary_.steps % every == 0;
}

template <std::floating_point T>
void Trainer<T>::resume(const TrainedNetwork& from) {
  w_ = std::get<Parameters<T>>(from.parameters);
  if (!from.state) return;
  const TrainState& state = *from.state;
  if (state.samples != samples_checksum()) {
    fail(Code::input,
         "the samples or targets differ from those of the training to resume; give the same ones, or start from a "
         "network saved after its training ended");
  }
  velocity_ = std::get<Parameters<T>>(state.velocity);
  squares_ = std::get<Parameters<T>>(state.squares);
  aux_ = state.auxiliary;
  aux_velocity_ = state.auxiliary_velocity;
  first_loss_ = state.first_loss;
  first_objective_ = state.first_objective;
  summary_.steps = from.summary.steps;
  summary_.time = from.summary.time;
}

template std::uint64_t Trainer<float>::samples_checksum() const;
template std::uint64_t Trainer<double>::samples_checksum() const;
template void Trainer<float>::export_state(TrainedNetwork&, bool);
template void Trainer<double>::export_state(TrainedNetwork&, bool);
template void Trainer<float>::checkpoint(TrainedNetwork&);
template void Trainer<double>::checkpoint(TrainedNetwork&);
template bool Trainer<float>::checkpoint_due() const;
template bool Trainer<double>::checkpoint_due() const;
template void Trainer<float>::resume(const TrainedNetwork&);
template void Trainer<double>::resume(const TrainedNetwork&);

}  // namespace widelimit
