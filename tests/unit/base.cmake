# Tests of runtime/base and runtime/hw.
ttfd_test(NAME base_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/base_test.cc DEPS runtime_base runtime_hw)
ttfd_test(NAME utf8_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/utf8_test.cc DEPS runtime_base)
ttfd_test(NAME log_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/log_test.cc DEPS runtime_base)
