#include "widelimit/analysis/dynamics/trajectory.hpp"

namespace widelimit {

const char* text(KinkBehaviour behaviour) {
  switch (behaviour) {
    case KinkBehaviour::crosses:
      return "crosses";
    case KinkBehaviour::slides:
      return "slides";
    case KinkBehaviour::leaves:
      return "leaves";
    case KinkBehaviour::rests:
      return "rests";
  }
  return "";
}

}  // namespace widelimit
