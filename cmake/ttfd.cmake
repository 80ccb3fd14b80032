# The declarative forms every folder uses. A target's DEPS are the only statement of what it may include; CMake writes
# them to build/<preset>/layers.txt and tests/lint/check_layers.py holds the #include lines to it.

set(TTFD_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Wno-sign-conversion)
if(TTFD_WERROR)
  list(APPEND TTFD_WARNINGS -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND TTFD_WARNINGS -Wthread-safety)
else()
  list(APPEND TTFD_WARNINGS -Wno-restrict)  # g++ 12 at -O3 reports it falsely on std::string (GCC bug 105651)
endif()

# Flags for our own code. Generated code and code that includes grpcpp takes them without the thread sanitizer (see
# docs/testing.md: Debian's gRPC is not instrumented).
function(ttfd_compile_options target)
  cmake_parse_arguments(ARG "NO_TSAN" "" "" ${ARGN})
  # The same for all, because precompiled headers are shared: -pthread and FMT_SHARED come with some libraries alone.
  target_compile_options(${target} PRIVATE ${TTFD_WARNINGS} -pthread)
  target_compile_definitions(${target} PRIVATE FMT_SHARED)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ collects its garbage later: a tenth of its time for up to 0.5 GB of memory.
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=500000)
  endif()
  if(TTFD_TIDY)
    set_target_properties(${target} PROPERTIES CXX_CLANG_TIDY "clang-tidy;--quiet")
  endif()
  if(TTFD_SANITIZE_ADDRESS)
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
  if(TTFD_SANITIZE_THREAD)
    if(NOT ARG_NO_TSAN)
      # Our fences order what the card sees, not what threads see; g++ warns that the sanitizer does not know them.
      target_compile_options(${target} PRIVATE -fsanitize=thread $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
    endif()
    target_link_options(${target} PUBLIC -fsanitize=thread)
  endif()
  if(TTFD_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

# Headers that most sources include, none of them ours: a third to a half of the time to compile a source goes into
# them.
set(TTFD_COMMON_HEADERS <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <deque> <functional> <map> <memory> <optional>
  <set> <span> <string> <utility> <variant> <vector> <fmt/format.h> <absl/functional/function_ref.h> <absl/status/statusor.h>)

# They are compiled once for each KIND of target: library, or test, which has those of GoogleTest as well; and once
# more for NO_TSAN targets of a build with the thread sanitizer. clang-tidy reads sources without building anything.
# At -O3 g++ 12 reports false overflows of std::string if <string> comes from a precompiled header.
function(_ttfd_precompile target kind no_tsan)
  if(TTFD_TIDY OR CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  set(name precompiled_${kind})
  set(options "")
  if(TTFD_SANITIZE_THREAD AND no_tsan)
    string(APPEND name _no_tsan)
    set(options NO_TSAN)
  endif()
  if(NOT TARGET ${name})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cc CONTENT "")
    if(kind STREQUAL "test")
      add_executable(${name} EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${name}.cc)
      target_compile_options(${name} PRIVATE -O0)
      target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest_main)
      target_precompile_headers(${name} PRIVATE ${TTFD_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
    else()
      add_library(${name} STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${name}.cc)
      target_precompile_headers(${name} PRIVATE ${TTFD_COMMON_HEADERS})
    endif()
    ttfd_compile_options(${name} ${options})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

# Compiles `count` sources of a target at once. CMake's UNITY_BUILD includes them by absolute path; with paths from
# the root, clones in different folders share the results of ccache.
function(_ttfd_unite target count)
  get_target_property(sources ${target} SOURCES)
  set(compiled "")
  set(includes "")
  foreach(source IN LISTS sources)
    set(alone FALSE)
    foreach(property GENERATED SKIP_UNITY_BUILD_INCLUSION COMPILE_DEFINITIONS COMPILE_OPTIONS)
      get_source_file_property(value ${source} ${property})
      if(value)
        set(alone TRUE)
      endif()
    endforeach()
    if(NOT source MATCHES "[.]cc$" OR alone)
      list(APPEND compiled ${source})
    else()
      cmake_path(ABSOLUTE_PATH source)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      list(APPEND includes "#include \"${source}\"\n")
    endif()
  endforeach()
  set(number 0)
  while(includes)
    list(SUBLIST includes 0 ${count} batch)
    list(REMOVE_ITEM includes ${batch})
    list(JOIN batch "" content)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/united/${target}_${number}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${content}" @ONLY)
    list(APPEND compiled ${file})
    math(EXPR number "${number} + 1")
  endwhile()
  set_target_properties(${target} PROPERTIES SOURCES "${compiled}")
endfunction()

# ttfd_library(NAME runtime_base HDRS a.h SRCS a.cc DEPS runtime_hw PACKAGES fmt::fmt [NO_TSAN])
# HDRS are verified to compile alone. DEPS are our targets, PACKAGES are Debian's.
function(ttfd_library)
  cmake_parse_arguments(ARG "NO_TSAN" "NAME" "HDRS;SRCS;DEPS;PACKAGES" ${ARGN})
  if(ARG_SRCS)
    add_library(${ARG_NAME} STATIC ${ARG_SRCS})
    set(scope PUBLIC)
    if(ARG_NO_TSAN)
      ttfd_compile_options(${ARG_NAME} NO_TSAN)
    else()
      ttfd_compile_options(${ARG_NAME})
    endif()
    _ttfd_precompile(${ARG_NAME} library "${ARG_NO_TSAN}")
    if(TTFD_UNITY)
      cmake_language(EVAL CODE "cmake_language(DEFER CALL _ttfd_unite ${ARG_NAME} 8)")  # sees later properties of sources
    endif()
  else()
    add_library(${ARG_NAME} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_sources(${ARG_NAME} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HDRS})
  target_include_directories(${ARG_NAME} ${scope} ${PROJECT_SOURCE_DIR})
  target_link_libraries(${ARG_NAME} ${scope} ${ARG_DEPS} ${ARG_PACKAGES})
  _ttfd_record_layer(${ARG_NAME} "${ARG_DEPS}" "${ARG_HDRS};${ARG_SRCS}")
endfunction()

# ttfd_installed_library(NAME ttfd_graph EXPORT graph [OUTPUT ttfd_graph] DEPS ttfd_client_shared PRIVATE ...): the installed
# form of a library, a shared one of the same objects as target NAME_shared and as ttfd::EXPORT of find_package(ttfd). It
# shows the symbols that libOUTPUT.map lists and the headers of include/ttfd.
function(ttfd_installed_library)
  cmake_parse_arguments(ARG "" "NAME;EXPORT;OUTPUT" "DEPS;PRIVATE" ${ARGN})
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT ${ARG_NAME})
  endif()
  set(shared ${ARG_NAME}_shared)
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/lib${ARG_OUTPUT}.map)
  add_library(${shared} SHARED $<TARGET_OBJECTS:${ARG_NAME}>)
  ttfd_compile_options(${shared})
  target_compile_features(${shared} PUBLIC cxx_std_20)
  target_include_directories(${shared}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${shared} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE})
  target_link_options(${shared} PRIVATE LINKER:--version-script=${map})
  set_property(TARGET ${shared} APPEND PROPERTY LINK_DEPENDS ${map})
  set_target_properties(${shared} PROPERTIES
    OUTPUT_NAME ${ARG_OUTPUT} EXPORT_NAME ${ARG_EXPORT} VERSION ${PROJECT_VERSION} SOVERSION 0)
  add_dependencies(ttfd_install ${shared})
  install(TARGETS ${shared} EXPORT ttfd LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY include/ttfd DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()

# ttfd_program(NAME ttfd SRCS main.cc DEPS ... PACKAGES ... [NO_TSAN])
function(ttfd_program)
  cmake_parse_arguments(ARG "NO_TSAN" "NAME" "SRCS;DEPS;PACKAGES" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  if(ARG_NO_TSAN)
    ttfd_compile_options(${ARG_NAME} NO_TSAN)
  else()
    ttfd_compile_options(${ARG_NAME})
  endif()
  target_include_directories(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} ${ARG_PACKAGES})
  _ttfd_record_layer(${ARG_NAME} "${ARG_DEPS}" "${ARG_SRCS}")
endfunction()

# Adds a ctest for each case of a GoogleTest program that `filter` leaves, if the program has been built.
function(_ttfd_discover program prefix labels environment timeout filter)
  set(list ${prefix}${program}_TESTS)
  gtest_discover_tests(${program} TEST_PREFIX "${prefix}" TEST_FILTER "${filter}" TEST_LIST ${list}
    DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${timeout})
  # Not among the PROPERTIES: several labels are a list there, which would swallow the properties after it.
  set(properties ${CMAKE_CURRENT_BINARY_DIR}/${prefix}${program}_properties.cmake)
  file(CONFIGURE OUTPUT ${properties} @ONLY CONTENT "if(${list})
  set_tests_properties(\${${list}} PROPERTIES LABELS \"${labels}\" ENVIRONMENT \"${environment}\")
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties})
endfunction()

# ttfd_test(NAME x_test SRCS ... DEPS ... PACKAGES ... LABELS unit [TIMEOUT 60] [NO_TSAN]): GoogleTest, one ctest per
# case. SRCS are compiled four at a time, so what they have in anonymous namespaces has names of its own.
function(ttfd_test)
  cmake_parse_arguments(ARG "NO_TSAN" "NAME;TIMEOUT" "SRCS;DEPS;PACKAGES;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${ARG_NAME} ${ARG_SRCS})
  if(ARG_NO_TSAN)
    ttfd_compile_options(${ARG_NAME} NO_TSAN)
  else()
    ttfd_compile_options(${ARG_NAME})
  endif()
  # A third to a half of the time to compile a test goes into optimising its expectations, and two thirds of the time
  # of a build into tests. What they test stays optimised.
  target_compile_options(${ARG_NAME} PRIVATE -O0)
  # Most of the time to compile a test goes into templates that its neighbours need, too: four sources at once take
  # 40 % of it.
  if(NOT TTFD_TIDY)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL _ttfd_unite ${ARG_NAME} 4)")  # sees later properties of sources
  endif()
  target_include_directories(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} ${ARG_PACKAGES} GTest::gmock GTest::gtest_main)
  _ttfd_precompile(${ARG_NAME} test "${ARG_NO_TSAN}")
  _ttfd_discover(${ARG_NAME} "" "${ARG_LABELS}" "" ${ARG_TIMEOUT} "")
  foreach(label IN LISTS ARG_LABELS)  # cmake --build ... --target tests_unit
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${ARG_NAME})
  endforeach()
endfunction()

# ttfd_test_again(x_test PREFIX kmd. LABELS integration ENVIRONMENT A=1 [FILTER -Suite.Case]): the cases of a
# ttfd_test once more, in another environment.
function(ttfd_test_again program)
  cmake_parse_arguments(ARG "" "PREFIX;FILTER" "LABELS;ENVIRONMENT" ${ARGN})
  _ttfd_discover(${program} ${ARG_PREFIX} "${ARG_LABELS}" "${ARG_ENVIRONMENT}" 60 "${ARG_FILTER}")
endfunction()

# ttfd_test_on_kmd(x_test LABELS integration [FILTER -Suite.Case]): the cases of a ttfd_test once more on the kmd
# backend, over a stand-in for the newest driver and a host with an IOMMU (tests/support/test_device_text.h), and as
# below.
function(ttfd_test_on_kmd program)
  cmake_parse_arguments(ARG "" "FILTER" "LABELS" ${ARGN})
  ttfd_test_again(${program} PREFIX kmd. LABELS ${ARG_LABELS} kmd-standin ENVIRONMENT TTFD_TEST_DEVICE=kmd-standin
    FILTER "${ARG_FILTER}")
  ttfd_test_on_other_kmds(${program} ${ARGN})
endfunction()

# The same with the oldest driver; without an IOMMU, in a hugepage of 1 GiB; with the oldest and without, in hugepages
# of 2 MiB. Labelled slow.
function(ttfd_test_on_other_kmds program)
  cmake_parse_arguments(ARG "" "FILTER" "LABELS" ${ARGN})
  foreach(kmd IN ITEMS "2.0:driver=2.0.0" "no-iommu:iommu=off" "2.0-no-iommu:driver=2.0.0,iommu=off,pages=2M")
    string(REGEX MATCH "^([^:]*)(:.*)$" unused ${kmd})
    ttfd_test_again(${program} PREFIX kmd-${CMAKE_MATCH_1}. LABELS ${ARG_LABELS} kmd-standin slow
      ENVIRONMENT TTFD_TEST_DEVICE=kmd-standin${CMAKE_MATCH_2} FILTER "${ARG_FILTER}")
  endforeach()
endfunction()

# ttfd_fuzz(NAME fuzz_elf SRCS fuzz_elf.cc CORPUS corpus/elf DEPS ... [CHANGES 2000]): SRCS define
# LLVMFuzzerTestOneInput. In the fuzz preset a libFuzzer program; with the address sanitizer, which it needs to find
# anything, a test (label fuzz-smoke) that replays the corpus and CHANGES small mutations of each file.
function(ttfd_fuzz)
  cmake_parse_arguments(ARG "NO_TSAN" "NAME;CORPUS;CHANGES" "SRCS;DEPS;PACKAGES" ${ARGN})
  if(NOT ARG_CHANGES)
    set(ARG_CHANGES 2000)
  endif()
  if(NOT TARGET ttfd_fuzz_targets)
    add_custom_target(ttfd_fuzz_targets)
  endif()
  if(NOT (TTFD_FUZZ OR TTFD_SANITIZE_ADDRESS OR TTFD_TIDY))
    return()
  endif()
  get_filename_component(corpus ${ARG_CORPUS} ABSOLUTE)
  add_executable(${ARG_NAME} ${ARG_SRCS})
  add_dependencies(ttfd_fuzz_targets ${ARG_NAME})
  if(ARG_NO_TSAN)
    ttfd_compile_options(${ARG_NAME} NO_TSAN)
  else()
    ttfd_compile_options(${ARG_NAME})
  endif()
  target_include_directories(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} ${ARG_PACKAGES})
  if(TTFD_FUZZ)
    target_link_options(${ARG_NAME} PRIVATE -fsanitize=fuzzer)
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}.corpus CONTENT "${corpus}\n")
  else()
    target_sources(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc)
    add_test(NAME fuzz.${ARG_NAME} COMMAND ${ARG_NAME} ${corpus} ${ARG_CHANGES})
    set_tests_properties(fuzz.${ARG_NAME} PROPERTIES LABELS fuzz-smoke TIMEOUT 300)
  endif()
endfunction()

# One line a target: name|folder|dependencies|files, lists separated by commas, paths from the project's root.
function(_ttfd_record_layer name deps files)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(paths "")
  list(REMOVE_ITEM files "")
  foreach(file IN LISTS files)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    file(RELATIVE_PATH file ${PROJECT_SOURCE_DIR} ${file})
    list(APPEND paths ${file})
  endforeach()
  list(JOIN deps "," deps)
  list(JOIN paths "," paths)
  set_property(GLOBAL APPEND_STRING PROPERTY TTFD_LAYERS "${name}|${folder}|${deps}|${paths}\n")
endfunction()

function(ttfd_write_layer_graph)
  get_property(layers GLOBAL PROPERTY TTFD_LAYERS)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/layers.txt CONTENT "${layers}")
endfunction()
