# libttfd against the real daemon on the embedded device.
set(client_kernel_dir ${PROJECT_BINARY_DIR}/firmware/kernels)
ttfd_library(NAME ttfd_daemon_process
  HDRS ${CMAKE_CURRENT_LIST_DIR}/../support/daemon_process.h SRCS ${CMAKE_CURRENT_LIST_DIR}/../support/daemon_process.cc
  DEPS ttfd_client runtime_base PACKAGES GTest::gtest)
target_compile_definitions(ttfd_daemon_process PRIVATE
  TTFD_DAEMON_PATH="$<TARGET_FILE:ttfd>" TTFD_KERNEL_DIR="${client_kernel_dir}")
add_dependencies(ttfd_daemon_process ttfd)
ttfd_test(NAME client_daemon_test LABELS integration TIMEOUT 120
  SRCS ${CMAKE_CURRENT_LIST_DIR}/client_main_job_test.cc ${CMAKE_CURRENT_LIST_DIR}/client_refusal_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/client_lifetime_test.cc
  DEPS ttfd_daemon_process ttfd_client)
add_dependencies(client_daemon_test kernel_vector_add kernel_empty kernel_echo_ncrisc)
