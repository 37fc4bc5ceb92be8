#include "app/shell/network_words.hpp"

#include "widelimit/network/forms.hpp"
#include "widelimit/network/presets.hpp"

namespace widelimit::app {

Table preset_table() {
  Table table{.columns = {"preset", "what"}};
  for (const Preset& preset : list_presets()) table.rows.push_back({preset.usage(), std::string(preset.description)});
  return table;
}

Table layer_table() {
  Table table{.columns = {"layer", "arguments"}};
  for (const Form& form : forms()) table.rows.push_back({std::string(form.name), form.argument_names()});
  return table;
}

}  // namespace widelimit::app
