ttfd_test(NAME daemon_core_test LABELS integration TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/daemon_core_test.cc
  DEPS daemon_session runtime_device_sim firmware_kernels)
