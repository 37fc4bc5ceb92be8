#include "widelimit/analysis/dynamics/trajectory.hpp"

namespace widelimit {

const char* text(Meeting meeting) {
  switch (meeting) {
    case Meeting::crosses:
      return "crosses";
    case Meeting::slides:
      return "slides";
    case Meeting::leaves:
      return "leaves";
    case Meeting::rests:
      return "rests";
  }
  return "";
}

}  // namespace widelimit
