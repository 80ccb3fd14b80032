# Tests of runtime/base and runtime/hw.
ttfd_test(NAME base_test LABELS unit DEPS runtime_base runtime_hw
  SRCS ${CMAKE_CURRENT_LIST_DIR}/base_test.cc ${CMAKE_CURRENT_LIST_DIR}/log_test.cc ${CMAKE_CURRENT_LIST_DIR}/utf8_test.cc)
