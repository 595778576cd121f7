# One Debian package with everything (program, library, Python module, documentation, models) and a tarball of the sources:
# tools/package. What `cmake --install` installs is what the package holds.
set(CPACK_PACKAGE_NAME stickslip)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_CONTACT "stickslip maintainers <stickslip@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_MONOLITHIC_INSTALL ON)

set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
# Shared libraries are found by dpkg-shlibdeps; the module needs the interpreter it was made for, and numpy.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3 (>= 3.11), python3 (<< 3.12), python3-numpy, fonts-dejavu-core")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-matplotlib, python3-pandas")
# To build programs against the library.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "g++, cmake, libeigen3-dev, libfmt-dev, libhdf5-dev, libtomlplusplus-dev, nlohmann-json3-dev, libtinyxml2-dev, libassimp-dev, openmpi-bin")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Simulates mechanical systems with set-valued friction, contact and impact by
five independent schemes that check each other, and finds their periodic
motions. Every run is audited.")
include(CPack)
