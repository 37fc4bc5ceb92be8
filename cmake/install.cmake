# Install tree: public headers, library, command line, and the files for find_package(widelimit). Wheels contain none of it.
if(SKBUILD)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

include(${CMAKE_CURRENT_LIST_DIR}/public_headers.cmake)
public_headers(headers)
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
install(TARGETS widelimit EXPORT widelimit ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET widelimit_app)
  install(TARGETS widelimit_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET widelimit_cuda)
  install(TARGETS widelimit_cuda LIBRARY DESTINATION lib/widelimit)
endif()
install(EXPORT widelimit NAMESPACE widelimit:: FILE widelimit-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/widelimit)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/widelimit-config.cmake.in
                              ${PROJECT_BINARY_DIR}/widelimit-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/widelimit)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/widelimit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/widelimit-config.cmake ${PROJECT_BINARY_DIR}/widelimit-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/widelimit)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake RENAME widelimit-dependencies.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/widelimit)

# find_package also works with the build tree; `make python` links the library there.
export(EXPORT widelimit NAMESPACE widelimit:: FILE widelimit-targets.cmake)
configure_file(${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake ${PROJECT_BINARY_DIR}/widelimit-dependencies.cmake COPYONLY)
