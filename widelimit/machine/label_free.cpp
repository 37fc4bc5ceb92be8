#include "widelimit/machine/label_free.hpp"

#include "widelimit/base/error.hpp"

namespace widelimit {

void require_label_free(const Model& model, std::string_view work, std::string_view why) {
  if (!model.label_aware) return;
  fail(Code::input, "the model has a label-aware kernel ({}), but {} require a label-free one: {}",
       to_string(model.label_aware->method), work, why);
}

}  // namespace widelimit
