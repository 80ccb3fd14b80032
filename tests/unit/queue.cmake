ttfd_test(NAME queue_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/queue_test.cc DEPS runtime_queue)
