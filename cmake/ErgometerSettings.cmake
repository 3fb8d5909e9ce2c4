# Settings every target shares: C++20, warnings, sanitizers, where outputs go.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib;$ORIGIN")

option(ERG_BUILD_TESTS "Build the tests" ON)
option(ERG_WERROR "Treat warnings as errors" OFF)
set(ERG_SANITIZE "" CACHE STRING "Sanitizers to build with, such as address,undefined")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(ERG_CCACHE ccache)
if(ERG_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ERG_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${ERG_CCACHE})
endif()

add_library(erg_settings INTERFACE)
# GCC 12 warns falsely of overlap in "text" + std::string (-Wrestrict) and of undefined registers in its own AVX-512 header.
target_compile_options(erg_settings INTERFACE -Wall -Wextra -Wpedantic -Wno-unknown-pragmas -Wno-restrict)
if(ERG_WERROR)
  target_compile_options(erg_settings INTERFACE -Werror)
endif()
if(ERG_SANITIZE)
  add_compile_options(-fsanitize=${ERG_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ERG_SANITIZE})
endif()
