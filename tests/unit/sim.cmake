# Tests of runtime/sim and runtime/device.
ttfd_test(NAME sim_test LABELS unit DEPS runtime_device_sim
  SRCS ${CMAKE_CURRENT_LIST_DIR}/sim_chip_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_cluster_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_ethernet_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_transmit_queues_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_grid_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/sim_scheduler_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/sim_host_memory_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_inspector_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_lanes_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/kernel_bounds_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_options_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_tensix_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_trace_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/card_info_test.cc ${CMAKE_CURRENT_LIST_DIR}/link_status_test.cc ${CMAKE_CURRENT_LIST_DIR}/port_device_test.cc)
