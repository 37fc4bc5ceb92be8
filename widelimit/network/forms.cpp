#include "widelimit/network/forms.hpp"

#include "widelimit/base/error.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

namespace widelimit {

namespace {

constexpr Bounds not_negative{.low = 0};
constexpr Bounds positive{.low = 0, .above_low = true};
constexpr Bounds share{.low = 0, .high = 1, .above_low = true};
constexpr Bounds size{.low = 1, .high = 4095};
constexpr Bounds degree{.low = 0, .high = 32};
constexpr Bounds rectified_degree{.low = 0, .high = 8};
constexpr Bounds coefficients{.low = 1, .high = 33};

/// Conversion of a member to a Value: identity, except that an absent std::optional becomes an empty list.
template <typename T>
struct Held {
  using Type = T;
  static const T& of(const T& member) { return member; }
};
template <>
struct Held<std::optional<Layers>> {
  using Type = Layers;
  static Layers of(const std::optional<Layers>& member) { return member.value_or(Layers{}); }
};

/// An enumeration, stored as its name.
template <>
struct Held<NodeScale> {
  using Type = std::string;
  static std::string of(NodeScale scale) { return std::string(to_string(scale)); }
};

template <typename T>
T member_of(typename Held<T>::Type value) {
  if constexpr (std::is_same_v<T, NodeScale>) {
    return value == to_string(NodeScale::uniform) ? NodeScale::uniform : NodeScale::degree;
  } else {
    return T(std::move(value));
  }
}

template <typename Struct, typename T>
Argument argument(std::string_view name, T Struct::*member, Bounds range = {}, Absent absent = Absent::prototype) {
  using Type = typename Held<T>::Type;
  return {.parameter = {.name = name, .type = Value(Type{}).index(), .range = range, .choices = {}},
          .absent = absent,
          .get = [member](const Layer& layer) { return Value(Held<T>::of(std::get<Struct>(layer.value).*member)); },
          .set =
              [member](Layer& layer, Value value) {
                std::get<Struct>(layer.value).*member = member_of<T>(std::get<Type>(std::move(value)));
              }};
}

Argument node_scale() {
  Argument scale = argument("scale", &Aggregate::scale);
  scale.parameter.choices = {to_string(NodeScale::degree), to_string(NodeScale::uniform)};
  return scale;
}

Form activation(Phi phi, std::vector<Argument> arguments = {}) {
  return {to_string(phi), Activation{.phi = phi, .coef = {}, .name = {}}, std::move(arguments)};
}

Form pool(std::string_view name, Pooling pooling) {
  return {name,
          Pool{.pooling = pooling},
          {argument("window", &Pool::window, size), argument("strides", &Pool::strides, size, Absent::as_window),
           argument("padding", &Pool::padding)}};
}

std::vector<Form> make_forms() {
  const Absent required = Absent::required;
  return {
      {"dense",
       Dense{},
       {argument("w_std", &Dense::w_std, not_negative), argument("b_std", &Dense::b_std, not_negative),
        argument("frozen", &Dense::frozen)}},
      {"conv",
       Conv{},
       {argument("kernel", &Conv::kernel, size), argument("strides", &Conv::strides, size),
        argument("padding", &Conv::padding), argument("w_std", &Conv::w_std, not_negative),
        argument("b_std", &Conv::b_std, not_negative), argument("frozen", &Conv::frozen)}},
      activation(Phi::relu),
      activation(Phi::leaky_relu, {argument("slope", &Activation::slope)}),
      activation(Phi::abs),
      activation(Phi::erf),
      activation(Phi::gelu),
      activation(Phi::sin),
      activation(Phi::cos),
      activation(Phi::sign),
      activation(Phi::exp),
      activation(Phi::gaussian),
      activation(Phi::rbf, {argument("gamma", &Activation::gamma, positive)}),
      activation(Phi::monomial, {argument("degree", &Activation::degree, degree)}),
      activation(Phi::rectified_monomial, {argument("degree", &Activation::degree, rectified_degree)}),
      activation(Phi::hermite, {argument("degree", &Activation::degree, degree)}),
      activation(Phi::polynomial, {argument("coef", &Activation::coef, coefficients, required)}),
      activation(Phi::identity),
      activation(Phi::tanh),
      activation(Phi::sigmoid),
      activation(Phi::swish),
      activation(Phi::softplus),
      activation(Phi::custom, {argument("name", &Activation::name, {}, required)}),
      pool("avg_pool", Pooling::average),
      pool("sum_pool", Pooling::sum),
      pool("max_pool", Pooling::max),
      {"global_avg_pool", GlobalPool{Pooling::average}, {}},
      {"global_sum_pool", GlobalPool{Pooling::sum}, {}},
      {"flatten", Flatten{}, {}},
      {"layer_norm", LayerNorm{}, {}},
      {"dropout", Dropout{}, {argument("rate", &Dropout::rate, share)}},
      {"scale", Scale{}, {argument("by", &Scale::by)}},
      {"attention", Attention{}, {argument("frozen", &Attention::frozen)}},
      {"aggregate", Aggregate{}, {node_scale()}},
      {"residual",
       Residual{},
       {argument("branch", &Residual::branch, {}, required), argument("shortcut", &Residual::shortcut)}},
  };
}

/// Distinguishes the layers that share a struct.
int variety(const Activation& activation) { return static_cast<int>(activation.phi); }
int variety(const Pool& pool) { return static_cast<int>(pool.pooling); }
int variety(const GlobalPool& pool) { return static_cast<int>(pool.pooling); }
template <typename T>
int variety(const T&) {
  return 0;
}

std::pair<std::size_t, int> identity_of(const Layer& layer) {
  return {layer.value.index(), std::visit([](const auto& value) { return variety(value); }, layer.value)};
}

}  // namespace

const Argument* Form::find(std::string_view argument) const {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const Argument& candidate) { return candidate.parameter.name == argument; });
  return found == arguments.end() ? nullptr : &*found;
}

std::string Form::argument_names() const {
  if (arguments.empty()) return "no arguments";
  std::vector<std::string_view> names;
  for (const Argument& argument : arguments) names.push_back(argument.parameter.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const Argument* Form::complete(Layer& layer, const std::vector<bool>& written) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (written[i]) continue;
    if (arguments[i].absent == Absent::required) return &arguments[i];
    if (arguments[i].absent == Absent::as_window) arguments[i].set(layer, find("window")->get(layer));
  }
  return nullptr;
}

bool Form::must_write(const Argument& argument, const Layer& layer) const {
  if (argument.absent == Absent::required) return true;
  if (argument.absent == Absent::as_window) return argument.get(layer) != find("window")->get(layer);
  return argument.get(layer) != argument.get(prototype);
}

const std::vector<Form>& forms() {
  static const std::vector<Form> all = make_forms();
  return all;
}

const Form* find_form(std::string_view name) {
  const auto found = std::find_if(forms().begin(), forms().end(), [&](const Form& form) { return form.name == name; });
  return found == forms().end() ? nullptr : &*found;
}

const Form& form_of(const Layer& layer) {
  const auto identity = identity_of(layer);
  for (const Form& form : forms()) {
    if (identity_of(form.prototype) == identity) return form;
  }
  fail(Code::input, "a layer has no text form: global pooling supports average and sum, not max");
}

std::vector<std::string_view> layer_names() {
  std::vector<std::string_view> names;
  for (const Form& form : forms()) names.push_back(form.name);
  return names;
}

}  // namespace widelimit
