# Hazards of the harts: what a wrong program sees of each, and that a right one sees nothing.
ttfd_test(NAME sim_hazard_test LABELS unit DEPS runtime_device_sim
  SRCS ${CMAKE_CURRENT_LIST_DIR}/sim_hazard_compute_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_hazard_harts_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_hazard_icache_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/sim_hazard_l0_cache_test.cc ${CMAKE_CURRENT_LIST_DIR}/sim_hazard_stores_test.cc)
