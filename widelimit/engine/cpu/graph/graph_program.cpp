#include "widelimit/engine/cpu/graph/graph_program.hpp"

#include <algorithm>
#include <utility>

namespace widelimit::cpu {

GraphProgram::GraphProgram(const Recipe& recipe) {
  std::vector<Index> stack{0};
  for (const Step& step : recipe.steps) {
    GraphStep places{stack.back(), stack.back(), stack.back()};
    switch (step.op) {
      case Op::aggregate:
        places.after = stack.back() = places.before + 1;
        break;
      case Op::readout:
        places.after = stack.back() = whole_graph;
        break;
      case Op::fork:
        stack.push_back(stack.back());
        break;
      case Op::swap:
        std::swap(stack.back(), stack[stack.size() - 2]);
        places.after = stack.back();
        break;
      case Op::join:
        stack.pop_back();
        places.beneath = stack.back();
        places.after = stack.back() = std::max(places.before, places.beneath);
        break;
      case Op::dropout:
        merges = merges && step.rate == 1;
        break;
      default:
        break;
    }
    rounds = std::max(rounds, places.after);
    deepest = std::max(deepest, std::ssize(stack));
    steps.push_back(places);
  }
}

}  // namespace widelimit::cpu
