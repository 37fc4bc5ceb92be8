#pragma once

#include "app/shell/options.hpp"

#include "widelimit/analysis/equivalence/equivalence.hpp"
#include "widelimit/report/html.hpp"

namespace widelimit::app {

/// What the demonstration shows of networks of finite width: their training on two digits beside that of their machine.
[[nodiscard]] Equivalence show_equivalence(const CommonOptions& options, const Engine& engine);

/// Its section of the page.
void add_equivalence_section(Page& page, const Equivalence& result);

}  // namespace widelimit::app
