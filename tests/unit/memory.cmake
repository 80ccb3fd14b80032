ttfd_test(NAME memory_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/memory_test.cc DEPS runtime_memory)
