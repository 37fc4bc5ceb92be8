#pragma once

#include "widelimit/data/catalogue/catalogue.hpp"

namespace widelimit {

/// Readers of the data sets that the catalogue knows by name. A new set needs a reader here and a line in the table of
/// catalogue.cpp.
Dataset load_digits(const DataSpec& spec, const DataOptions& options);
Dataset load_mnist(const DataSpec& spec, const DataOptions& options);
Dataset load_cifar10(const DataSpec& spec, const DataOptions& options);
Dataset load_uci(const DataSpec& spec, const DataOptions& options);
GraphSet load_graph_set(const std::string& name, const ReadLimits& limits, bool labelled);

/// Return the location of a set, empty if it was not found.
std::string find_mnist();
std::string find_cifar10();
std::string find_uci();
std::string find_graphs();

std::vector<std::string> uci_names();
std::vector<std::string> graph_names();

}  // namespace widelimit
