# Dependencies of the library; docs/dependencies.md gives the reason for each. Installed with the package files, since
# linking a static library requires all of them again.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(LibArchive REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(CURL REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)

# The OpenMP build of OpenBLAS runs single-threaded inside our own parallel regions, as tiles require: results then do
# not depend on the number of threads. It is specified by path, since the generic name may refer to another build on the
# same machine. Nothing links it: it is loaded with the first product.
find_library(OPENBLAS_LIBRARY openblas REQUIRED
             PATH_SUFFIXES openblas-openmp ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_CMAKE_ENVIRONMENT_PATH)
find_path(OPENBLAS_INCLUDE cblas.h REQUIRED
          PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp openblas-openmp)
if(NOT TARGET OpenBLAS::loaded)
  cmake_path(GET OPENBLAS_LIBRARY PARENT_PATH openblas_folder)
  add_library(OpenBLAS::loaded INTERFACE IMPORTED)
  set_target_properties(OpenBLAS::loaded PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${OPENBLAS_INCLUDE}
                        INTERFACE_COMPILE_DEFINITIONS WIDELIMIT_OPENBLAS="${openblas_folder}/libopenblas.so.0"
                        INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
endif()
