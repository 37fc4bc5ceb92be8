# What the library stands on; the reason for each is in docs/dependencies.md. Installed beside the package's own
# files too: a static library needs all of it again where it is linked.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(LibArchive REQUIRED)
find_package(JPEG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)

# The OpenMP build of OpenBLAS runs single-threaded inside our own parallel regions, which is what tiles need:
# results then do not depend on the number of threads. It is named by path, since the generic name may point at
# another build on the same machine.
find_library(OPENBLAS_LIBRARY openblas REQUIRED
             PATH_SUFFIXES openblas-openmp ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_CMAKE_ENVIRONMENT_PATH)
find_path(OPENBLAS_INCLUDE cblas.h REQUIRED
          PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp openblas-openmp)
if(NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES IMPORTED_LOCATION ${OPENBLAS_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${OPENBLAS_INCLUDE})
endif()
