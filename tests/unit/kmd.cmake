# Tests of runtime/device/kmd, most of them over the stand-in for the driver.
ttfd_test(NAME kmd_test LABELS unit kmd-standin DEPS kmd_standin runtime_card
  SRCS ${CMAKE_CURRENT_LIST_DIR}/kmd_bus_test.cc ${CMAKE_CURRENT_LIST_DIR}/kmd_lost_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/kmd_memory_test.cc ${CMAKE_CURRENT_LIST_DIR}/kmd_open_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/kmd_reset_test.cc ${CMAKE_CURRENT_LIST_DIR}/kmd_standin_test.cc ${CMAKE_CURRENT_LIST_DIR}/kmd_window_test.cc)
ttfd_test(NAME kmd_doctor_test LABELS unit kmd-standin DEPS host_tree kmd_standin runtime_device_kmd_doctor
  SRCS ${CMAKE_CURRENT_LIST_DIR}/kmd_doctor_test.cc)
