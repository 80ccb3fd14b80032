# Packets and stream updates that take time.
ttfd_test(NAME sim_transit_test LABELS unit DEPS runtime_device_sim
  SRCS ${CMAKE_CURRENT_LIST_DIR}/sim_hazard_host_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_hazard_noc_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_hazard_stream_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/sim_transit_test.cc)
