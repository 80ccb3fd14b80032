ttfd_test(NAME dispatch_state_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/dispatch_state_test.cc DEPS runtime_dispatch)
ttfd_test(NAME worker_sets_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/worker_sets_test.cc DEPS runtime_dispatch)
ttfd_test(NAME diagnosis_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/diagnosis_test.cc DEPS runtime_dispatch)
target_compile_definitions(diagnosis_test PRIVATE TTFD_SNAPSHOTS="${PROJECT_SOURCE_DIR}/tests/snapshots")
