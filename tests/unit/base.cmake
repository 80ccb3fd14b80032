# Tests of runtime/base and runtime/hw.
ttfd_test(NAME base_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/base_test.cc DEPS runtime_base runtime_hw)
