# What the library stands on; the reason for each is in docs/dependencies.md. Installed beside the package's own
# files too: a static library needs all of it again where it is linked.
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

# The OpenMP build of OpenBLAS runs single-threaded inside our own parallel regions, which is what tiles need:
# results then do not depend on the number of threads. It is named by path, since the generic name may point at
# another build on the same machine. Nothing links it: it is loaded with the first product.
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
