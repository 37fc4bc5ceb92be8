#include "widelimit/certificate/chain.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/network/shape.hpp"

namespace widelimit {

namespace {

class ChainReader {
 public:
  ChainReader(bool positions, Chain& chain) : positions_(positions), chain_(chain) {}

  void read(const Layers& list) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      place_ = fmt::format("layer {} ({})", k + 1, to_text(list[k]));
      std::visit([this](const auto& layer) { (*this)(layer); }, list[k].value);
    }
  }

  void operator()(const Dense& dense) { push({.w_std = dense.w_std, .b_std = dense.b_std}); }
  void operator()(const Scale& scale) { push({.w_std = scale.by, .trained = false}); }
  void operator()(const Flatten&) { positions_ = false; }

  void operator()(const Activation& activation) {
    if (positions_) refuse("acts on positions of an image; flatten first");
    switch (activation.phi) {
      case Phi::relu:
        return push({.rectifier = true});
      case Phi::identity:
        return push({.rectifier = true, .slope = 1});
      case Phi::leaky_relu:
        if (activation.slope < 0) refuse("falls for negative values, so that its kernel does not grow with the angle");
        return push({.rectifier = true, .slope = activation.slope});
      default:
        refuse("is no rectifier; certificates know relu, leaky_relu with a slope ≥ 0 and identity");
    }
  }

  template <typename Other>
  void operator()(const Other&) {
    refuse("has no certificate; fully connected networks do: dense layers with relu between them, such as fc:2 or eq2");
  }

 private:
  void push(ChainLayer layer) {
    layer.place = place_;
    chain_.layers.push_back(std::move(layer));
  }
  [[noreturn]] void refuse(std::string_view why) const { fail(Code::usage, "{} {}", place_, why); }

  bool positions_;
  Chain& chain_;
  std::string place_;
};

}  // namespace

Chain read_chain(const Network& network, const Shape& shape) {
  static_cast<void>(infer_shapes(network, shape));
  const Shape input = effective_input(network, shape);
  Chain chain;
  chain.features = input.size();
  ChainReader(!input.is_vector(), chain).read(network.layers);
  return chain;
}

}  // namespace widelimit
