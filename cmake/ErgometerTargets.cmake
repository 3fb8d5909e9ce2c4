# erg_library(NAME [SHARED] DEPS ... LIBS ...): the library of one folder, from all its .cpp files.
# DEPS name other folders, LIBS outside libraries. Only what a folder may know is given, so a wrong dependency does not link.
function(erg_library name)
  cmake_parse_arguments(A "SHARED" "" "DEPS;LIBS;PUBLIC_LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(A_SHARED)
    add_library(erg_${name} SHARED ${sources})
  else()
    add_library(erg_${name} STATIC ${sources})
  endif()
  target_include_directories(erg_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM A_DEPS PREPEND erg_)
  target_link_libraries(erg_${name} PUBLIC ${A_DEPS} ${A_PUBLIC_LIBS} PRIVATE ${A_LIBS} erg_settings)
endfunction()

# erg_test(FOLDER DEPS ... LIBS ...): one GoogleTest program from tests/FOLDER/*_test.cpp, label quick.
# Tests whose suite name starts with Full get the label full instead.
# Tests choose no kernels by measuring: what runs beside them would decide, and stay in the user's cache.
function(erg_test name)
  cmake_parse_arguments(A "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources})
  list(TRANSFORM A_DEPS PREPEND erg_)
  target_link_libraries(${name}_test PRIVATE ${A_DEPS} ${A_LIBS} GTest::gtest GTest::gtest_main GTest::gmock erg_settings)
  target_compile_definitions(${name}_test PRIVATE ERG_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ERG_BINARY_DIR="${CMAKE_BINARY_DIR}")
  include(GoogleTest)
  gtest_discover_tests(${name}_test TEST_PREFIX ${name}. TEST_FILTER -Full*:*/Full* DISCOVERY_TIMEOUT 60 PROPERTIES LABELS quick TIMEOUT 300 ENVIRONMENT ERGOMETER_TUNE=first)
  gtest_discover_tests(${name}_test TEST_PREFIX ${name}. TEST_FILTER Full*:*/Full* TEST_LIST ${name}_full DISCOVERY_TIMEOUT 60 PROPERTIES LABELS full TIMEOUT 1200 ENVIRONMENT ERGOMETER_TUNE=first)
endfunction()
