# One static library per layer. A layer links exactly the layers it may include; tests/layers checks the includes.
function(stickslip_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow
                         -Wno-maybe-uninitialized -Wno-restrict)  # false reports of GCC 12: inside Eigen products, and for "x" + std::to_string(i)
  if(STICKSLIP_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# Most of the time that a small source takes to compile goes into the headers of Eigen, fmt and the standard library. They
# are parsed once for each target (45 minutes of processor time became 41, both under load). The sanitize preset does without,
# so that a source that leans on another's includes is found.
option(STICKSLIP_PRECOMPILE_HEADERS "Parse the headers of the libraries once" ON)
function(stickslip_precompile target)
  if(STICKSLIP_PRECOMPILE_HEADERS)
    # ccache asks for the first; the others are false reports of GCC 12 in strings, which precompiled headers bring out.
    target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp)
  endif()
endfunction()

# stickslip_layer(NAME [PUBLIC libs...] [PRIVATE libs...])
function(stickslip_layer name)
  cmake_parse_arguments(LAYER "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  add_library(stickslip_${name} STATIC ${sources})
  add_library(stickslip::${name} ALIAS stickslip_${name})
  set_target_properties(stickslip_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  # Nobody replaces a function of the library from outside, so calls within a file may be expanded: steps of two masses
  # take a twelfth less time.
  target_compile_options(stickslip_${name} PRIVATE -fno-semantic-interposition)
  target_compile_features(stickslip_${name} PUBLIC cxx_std_20)
  target_include_directories(stickslip_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(stickslip_${name} PUBLIC ${LAYER_PUBLIC} PRIVATE ${LAYER_PRIVATE})
  stickslip_warnings(stickslip_${name})
  stickslip_precompile(stickslip_${name})
  set_property(GLOBAL APPEND PROPERTY STICKSLIP_LAYERS stickslip_${name})
endfunction()
