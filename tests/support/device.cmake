# How tests open their card.
ttfd_library(NAME test_device HDRS ${CMAKE_CURRENT_LIST_DIR}/test_device.h
  DEPS kmd_standin runtime_fabric runtime_device_sim runtime_device_ttsim PACKAGES GTest::gtest)
target_compile_definitions(test_device INTERFACE
  TTFD_TTSIM_LIBRARY="${TTFD_TTSIM_LIB}" TTFD_SIM_LIBRARY="$<TARGET_FILE:ttfd_sim_shared>")
add_dependencies(test_device ttfd_sim_shared)
