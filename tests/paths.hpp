#pragma once

#include <string>

/// Where tests find the program and the files of the tree. Only `paths.cpp` depends on the folder of the checkout, so
/// that all other objects are the same in every checkout, and ccache shares them.
namespace widelimit::test {

/// Returns the path of a golden file, in the source tree or in the folder that WIDELIMIT_GOLDEN names (a bundle's).
std::string golden_file(const std::string& name);

/// Returns the path of the program of this build tree.
const std::string& program_path();

/// Returns the path of the script that opens a page in a browser and checks what it shows.
const std::string& open_page_script();

}  // namespace widelimit::test
