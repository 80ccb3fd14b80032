# Faults at every seam of the card, at every operation: some of the points in normal runs, all of them with the label slow.
ttfd_test(NAME injection_test LABELS "integration;fault" TIMEOUT 120
  SRCS ${CMAKE_CURRENT_LIST_DIR}/injection_test.cc ${CMAKE_CURRENT_LIST_DIR}/rings_cleared_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/injection_scenario.cc ${CMAKE_CURRENT_LIST_DIR}/../support/faulty_device.cc
  DEPS core_fixture test_device firmware_kernels)
add_test(NAME fault.all_points.card COMMAND injection_test)
set_tests_properties(fault.all_points.card PROPERTIES LABELS "slow;fault" TIMEOUT 7200
  ENVIRONMENT "TTFD_FAULT_POINTS=all")
