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
