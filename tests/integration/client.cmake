# libttfd against the real daemon on the embedded device.
set(client_kernel_dir ${PROJECT_BINARY_DIR}/firmware/kernels)
ttfd_library(NAME ttfd_client_daemon
  HDRS ${CMAKE_CURRENT_LIST_DIR}/../support/client_daemon.h SRCS ${CMAKE_CURRENT_LIST_DIR}/../support/client_daemon.cc
  DEPS ttfd_client PACKAGES GTest::gtest)
target_compile_definitions(ttfd_client_daemon PRIVATE
  TTFD_CLIENT_TEST_DAEMON="$<TARGET_FILE:ttfd>" TTFD_CLIENT_TEST_KERNELS="${client_kernel_dir}"
  TTFD_CLIENT_TEST_DISPATCH_KERNELS="${CMAKE_CURRENT_BINARY_DIR}/dispatch_kernels")
add_dependencies(ttfd_client_daemon ttfd)
ttfd_test(NAME client_daemon_test LABELS integration TIMEOUT 120
  SRCS ${CMAKE_CURRENT_LIST_DIR}/client_main_job_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_refusal_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_lifetime_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_queues_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_trace_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_print_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_circular_buffer_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_callable_test.cc
  DEPS ttfd_client_daemon ttfd_client)
add_dependencies(client_daemon_test kernel_vector_add kernel_empty kernel_echo_ncrisc kernel_copy_pages kernel_spin kernel_print_brisc
  kernel_present_tiles kernel_tile_math kernel_call kernel_called kernel_called_print kernel_echo_brisc
  dispatch_kernel_meet_brisc dispatch_kernel_bump_brisc)
