# What the runtime keeps about the card, and what it makes of a snapshot.
ttfd_test(NAME dispatch_state_test LABELS unit DEPS runtime_card
  SRCS ${CMAKE_CURRENT_LIST_DIR}/diagnosis_test.cc ${CMAKE_CURRENT_LIST_DIR}/dispatch_state_test.cc ${CMAKE_CURRENT_LIST_DIR}/worker_sets_test.cc)
target_compile_definitions(dispatch_state_test PRIVATE TTFD_SNAPSHOTS="${PROJECT_SOURCE_DIR}/tests/snapshots")
