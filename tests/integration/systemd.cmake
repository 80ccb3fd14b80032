# The real daemon: under a service manager, and spoken to by a client that knows only the .proto files.
add_library(test_daemon_process STATIC ${CMAKE_CURRENT_LIST_DIR}/../support/daemon_process.cc)
ttfd_compile_options(test_daemon_process)
target_include_directories(test_daemon_process PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_definitions(test_daemon_process PRIVATE TTFD_DAEMON_BINARY="$<TARGET_FILE:ttfd>")
target_link_libraries(test_daemon_process PUBLIC runtime_base GTest::gtest)
add_dependencies(test_daemon_process ttfd)

ttfd_test(NAME systemd_test LABELS integration TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/systemd_test.cc
  DEPS test_daemon_process)
ttfd_test(NAME raw_client_test NO_TSAN LABELS integration TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/raw_client_test.cc
  DEPS test_daemon_process ttfd_proto)
target_compile_definitions(raw_client_test PRIVATE TTFD_KERNEL_FOLDER="${PROJECT_BINARY_DIR}/firmware/kernels")
add_dependencies(raw_client_test kernel_vector_add)
