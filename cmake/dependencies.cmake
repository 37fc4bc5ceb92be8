# What the library stands on; the reason for each is in docs/dependencies.md.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(LibArchive REQUIRED)
find_package(JPEG REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)

# The OpenMP build of OpenBLAS runs single-threaded inside our own parallel regions, which is what tiles need:
# results then do not depend on the number of threads. It is named by path, since the generic name may point at
# another build on the same machine.
find_library(OPENBLAS_LIBRARY openblas REQUIRED
             PATH_SUFFIXES openblas-openmp ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_CMAKE_ENVIRONMENT_PATH)
find_path(OPENBLAS_INCLUDE cblas.h REQUIRED
          PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp openblas-openmp)
