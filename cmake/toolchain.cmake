# Language, warnings and sanitizers, for every target of this tree.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Paths relative to the tree, so that another checkout of the same sources finds what this one has compiled. The
# sloppiness is what ccache asks for where headers are precompiled; the tree uses no time macros.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

# clang counts sign conversions under -Wconversion, g++ does not; Index is signed on purpose.
add_library(widelimit_warnings INTERFACE)
target_compile_options(widelimit_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion
                       -Wno-missing-field-initializers -Werror)
# Where several sources of a target are compiled as one, g++ takes them for headers and warns of their private types, and
# a private name of one is nothing that a local name of another hides, which clang cannot tell apart. The sanitizers'
# build compiles each source of the library alone, with both warnings.
set(batched $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)
set(batched_warnings "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wshadow=local>")
target_compile_options(widelimit_warnings INTERFACE "$<IF:${batched},${batched_warnings},-Wshadow>")

# The undefined-behaviour sanitizer doubles the time of compilation, so that only the library has it, and tests and
# command line are compiled without optimisation.
set(widelimit_door_level $<$<CONFIG:Release>:-O1>)
set(widelimit_test_level $<$<CONFIG:Release>:-O1>)
if(WIDELIMIT_SANITIZE)
  add_compile_options(-fsanitize=address -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  set(widelimit_door_level -O0)
  set(widelimit_test_level -O0)
endif()
