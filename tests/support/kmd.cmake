# A stand-in for the vendor's driver.
ttfd_library(NAME kmd_standin
  HDRS ${CMAKE_CURRENT_LIST_DIR}/kmd_fixture.h ${CMAKE_CURRENT_LIST_DIR}/kmd_on_standin.h ${CMAKE_CURRENT_LIST_DIR}/kmd_standin.h
       ${CMAKE_CURRENT_LIST_DIR}/kmd_standin_pins.h ${CMAKE_CURRENT_LIST_DIR}/kmd_standin_windows.h
  SRCS ${CMAKE_CURRENT_LIST_DIR}/kmd_on_standin.cc ${CMAKE_CURRENT_LIST_DIR}/kmd_standin.cc
       ${CMAKE_CURRENT_LIST_DIR}/kmd_standin_pins.cc ${CMAKE_CURRENT_LIST_DIR}/kmd_standin_windows.cc
  DEPS runtime_device_kmd runtime_device_sim PACKAGES GTest::gtest)
