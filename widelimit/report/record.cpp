#include "widelimit/report/record.hpp"

#include "widelimit/base/version.hpp"

#include <cmath>

namespace widelimit {
namespace {

using Json = nlohmann::ordered_json;

void require_finite(const Json& value, const std::string& place) {
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    if (!std::isfinite(number))
      fail(Code::numerical, "{} is {}, not a finite number: check the data and settings", place, number);
  } else if (value.is_object()) {
    for (const auto& [key, child] : value.items()) require_finite(child, place.empty() ? key : place + "." + key);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) require_finite(value[i], fmt::format("{}[{}]", place, i));
  }
}

}  // namespace

void Record::ran_on(const Engine& engine, Precision precision) {
  machine_ = Machine{engine.name(), engine.description(), precision, engine.threads()};
}

Json Record::page_settings() const {
  Json all = settings;
  all["seed"] = seed;
  if (machine_) {
    all["backend"] = fmt::format("{}: {}", machine_->name, machine_->description);
    all["precision"] = to_string(machine_->precision);
  }
  if (!notes.empty()) all["notes"] = notes;
  return all;
}

Json Record::to_json() const {
  Json record;
  record["widelimit"] = version();
  record["verb"] = verb;
  record["settings"] = settings;
  record["seed"] = seed;
  if (machine_) {
    record["backend"] = {{"name", machine_->name}, {"description", machine_->description}};
    record["precision"] = to_string(machine_->precision);
    record["threads"] = machine_->threads;
  }
  Json& seconds = record["timings"] = Json::object();
  for (const auto& timing : timings) seconds[timing.first] = timing.second;
  if (!notes.empty()) record["notes"] = notes;
  record["results"] = results;
  require_finite(record, "");
  return record;
}

std::string Record::to_text() const { return to_json().dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace widelimit
