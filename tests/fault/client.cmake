# libttfd over connections that break, and daemons that die.
ttfd_library(NAME test_cut_relay HDRS ${CMAKE_CURRENT_LIST_DIR}/../support/cut_relay.h SRCS ${CMAKE_CURRENT_LIST_DIR}/../support/cut_relay.cc
  DEPS runtime_base PACKAGES GTest::gtest)
ttfd_test(NAME client_reconnect_test LABELS integration fault TIMEOUT 120 SRCS ${CMAKE_CURRENT_LIST_DIR}/client_reconnect_test.cc
  DEPS ttfd_client_daemon ttfd_client test_cut_relay)
add_dependencies(client_reconnect_test kernel_empty kernel_print_brisc dispatch_kernel_bump_brisc)
