#include "widelimit/analysis/dynamics/flow/flow_solver.hpp"

#include <cmath>

namespace widelimit {

double decay(double lambda, double time) { return lambda == 0 ? 1.0 : std::exp(-lambda * time); }

double decayed_time(double lambda, double time) { return lambda == 0 ? time : -std::expm1(-lambda * time) / lambda; }

}  // namespace widelimit
