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

# pkg-config, for those without CMake: layers that use others come first.
set(STICKSLIP_LIBRARIES "")
foreach(layer ${layers})
  string(PREPEND STICKSLIP_LIBRARIES "-l${layer} ")
endforeach()
file(RELATIVE_PATH STICKSLIP_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/stickslip.pc.in ${PROJECT_BINARY_DIR}/stickslip.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/stickslip.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Pages with links that lead somewhere in the folder they are in.
install(CODE "execute_process(COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tools/install-docs ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/docs
                              COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${PROJECT_BINARY_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
if(STICKSLIP_BUILD_PROGRAM)
  install(TARGETS stickslip_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/stickslip)
endif()

# What is installed, and no test: `tools/package` builds this.
add_custom_target(stickslip_installed DEPENDS ${layers})
foreach(part stickslip_program stickslip_extras stickslip_fmu stickslip_python)
  if(TARGET ${part})
    add_dependencies(stickslip_installed ${part})
  endif()
endforeach()
