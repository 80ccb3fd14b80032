ttfd_test(NAME boot_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/boot_test.cc ${CMAKE_CURRENT_LIST_DIR}/wait_test.cc DEPS runtime_boot)
