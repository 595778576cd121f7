# `cmake --install` exports stickslip::stickslip (all layers) and one target per layer.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY STICKSLIP_LAYERS)
install(TARGETS ${layers} stickslip EXPORT stickslipTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/stickslip DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT stickslipTargets NAMESPACE stickslip:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stickslip)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/stickslipConfig.cmake.in ${PROJECT_BINARY_DIR}/stickslipConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stickslip)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stickslipConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stickslipConfig.cmake ${PROJECT_BINARY_DIR}/stickslipConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stickslip)
if(STICKSLIP_BUILD_PROGRAM)
  install(TARGETS stickslip_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/stickslip)
endif()
