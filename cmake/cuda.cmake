# libwidelimit_cuda.so, the plug-in for NVIDIA devices, built if nvcc is found. Nothing links it: the library loads it when
# a device is requested. It contains the CUDA runtime; cuBLAS and cuSOLVER are loaded from the system at run time.
set(WIDELIMIT_CUDA AUTO CACHE STRING "Build the plug-in for NVIDIA devices: ON, OFF, or AUTO (if nvcc is found)")
set_property(CACHE WIDELIMIT_CUDA PROPERTY STRINGS AUTO ON OFF)
if(WIDELIMIT_SANITIZE OR (WIDELIMIT_CUDA STREQUAL "AUTO" AND NOT PROJECT_IS_TOP_LEVEL))
  return()
endif()
find_program(WIDELIMIT_NVCC nvcc PATHS /usr/local/cuda/bin)
if(WIDELIMIT_CUDA STREQUAL "ON" AND NOT WIDELIMIT_NVCC)
  message(FATAL_ERROR "WIDELIMIT_CUDA is ON, but nvcc was not found; set WIDELIMIT_NVCC to its path")
elseif(NOT WIDELIMIT_CUDA OR NOT WIDELIMIT_NVCC)
  return()
endif()
file(REAL_PATH ${WIDELIMIT_NVCC} nvcc_path)
cmake_path(GET nvcc_path PARENT_PATH nvcc_folder)
cmake_path(GET nvcc_folder PARENT_PATH cuda_root)
find_library(WIDELIMIT_CUDART cudart_static REQUIRED HINTS ${cuda_root}/lib64 ${cuda_root}/lib)

# nvcc is called directly: CMake of Debian 12 does not support C++20 for CUDA, and enabling the language takes as long as
# the rest of the configuration. Machine code for Ampere and Hopper; later devices compile the PTX of the latter.
set(nvcc_flags -std=c++20 -O3 --expt-relaxed-constexpr -ccbin ${CMAKE_CXX_COMPILER} -Xcompiler=-fPIC,-fvisibility=hidden
    -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=[sm_90,compute_90])
file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/widelimit/engine/cuda/*.cu)
# The layers implement an interface of the library whose headers include fmt: without this definition, fmt 9 omits
# constexpr under nvcc, which g++ rejects. Diagnostic 554 concerns a conversion that a concept excludes.
set(layer_flags -DFMT_USE_CONSTEXPR=1 -diag-suppress=554)
set(objects)
foreach(source IN LISTS kernels)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
  set(object ${PROJECT_BINARY_DIR}/cuda/${name}.o)
  cmake_path(GET object PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  set(flags ${nvcc_flags})
  if(name MATCHES "/plugin/layers/")
    list(APPEND flags ${layer_flags})
  endif()
  add_custom_command(OUTPUT ${object} DEPENDS ${source} DEPFILE ${object}.d VERBATIM COMMENT "Compiling ${name}"
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${WIDELIMIT_NVCC} ${flags} -I${PROJECT_SOURCE_DIR} -MD -MF ${object}.d
            -c ${source} -o ${object})
  list(APPEND objects ${object})
endforeach()

file(GLOB_RECURSE plugin_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/widelimit/engine/cuda/plugin/*.cpp)
add_library(widelimit_cuda MODULE ${plugin_sources} ${objects})
set_target_properties(widelimit_cuda PROPERTIES CXX_VISIBILITY_PRESET hidden
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
target_include_directories(widelimit_cuda PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(widelimit_cuda SYSTEM PRIVATE ${cuda_root}/include)
target_compile_definitions(widelimit_cuda PRIVATE WIDELIMIT_VERSION="${PROJECT_VERSION}")
target_link_libraries(widelimit_cuda PRIVATE widelimit_warnings ${WIDELIMIT_CUDART} fmt::fmt-header-only
                      pthread rt ${CMAKE_DL_LIBS})
