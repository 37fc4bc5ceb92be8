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

# Paths are relative to the tree, so that other checkouts of the same sources share the ccache entries. ccache requires
# this sloppiness for precompiled headers; the tree uses no time macros.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

# clang includes sign conversions in -Wconversion, g++ does not; Index is signed on purpose.
add_library(widelimit_warnings INTERFACE)
target_compile_options(widelimit_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion
                       -Wno-missing-field-initializers -Werror)
# In unity builds, g++ treats sources as headers and warns about their private types, and -Wshadow would report local
# names that hide private names of other sources, which clang cannot distinguish. The sanitizer build compiles each
# library source alone, with both warnings.
set(batched $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)
set(batched_warnings "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wshadow=local>")
target_compile_options(widelimit_warnings INTERFACE "$<IF:${batched},${batched_warnings},-Wshadow>")

# The undefined-behaviour sanitizer doubles compile time, so only the library uses it; tests and command line are compiled
# without optimization.
set(widelimit_door_level $<$<CONFIG:Release>:-O1>)
set(widelimit_test_level $<$<CONFIG:Release>:-O1>)
if(WIDELIMIT_SANITIZE)
  add_compile_options(-fsanitize=address -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  set(widelimit_door_level -O0)
  set(widelimit_test_level -O0)
endif()
