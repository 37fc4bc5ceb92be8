#pragma once

#include "widelimit/data/catalogue/catalogue.hpp"

namespace widelimit {

/// A data set the catalogue knows by name. Adding one is a reader here and a line in the table of catalogue.cpp.
Dataset load_digits(const DataSpec& spec, const DataOptions& options);
Dataset load_mnist(const DataSpec& spec, const DataOptions& options);
Dataset load_cifar10(const DataSpec& spec, const DataOptions& options);
Dataset load_uci(const DataSpec& spec, const DataOptions& options);
GraphSet load_graph_set(const std::string& name, const ReadLimits& limits);

/// Where a set lies, empty where it was not found.
std::string find_mnist();
std::string find_cifar10();
std::string find_uci();
std::string find_graphs();

std::vector<std::string> uci_names();
std::vector<std::string> graph_names();

}  // namespace widelimit
