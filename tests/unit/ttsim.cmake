# The child process that runs simulator libraries, with a library that misbehaves on purpose.
add_library(fake_simulator MODULE ${CMAKE_CURRENT_LIST_DIR}/../support/fake_simulator.cc)
target_include_directories(fake_simulator PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(fake_simulator PRIVATE ${TTFD_WARNINGS})
ttfd_test(NAME ttsim_port_test LABELS unit DEPS runtime_device_ttsim SRCS ${CMAKE_CURRENT_LIST_DIR}/ttsim_port_test.cc)
add_dependencies(ttsim_port_test fake_simulator)
target_compile_definitions(ttsim_port_test PRIVATE TTFD_FAKE_SIMULATOR="$<TARGET_FILE:fake_simulator>")
