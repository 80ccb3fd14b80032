# A stand-in for the vendor's driver.
ttfd_library(NAME kmd_standin
  HDRS ${CMAKE_CURRENT_LIST_DIR}/kmd_fixture.h ${CMAKE_CURRENT_LIST_DIR}/kmd_on_standin.h ${CMAKE_CURRENT_LIST_DIR}/test_card.h ${CMAKE_CURRENT_LIST_DIR}/kmd_standin.h
       ${CMAKE_CURRENT_LIST_DIR}/kmd_standin_calls.h
       ${CMAKE_CURRENT_LIST_DIR}/kmd_standin_memory.h ${CMAKE_CURRENT_LIST_DIR}/kmd_standin_pins.h ${CMAKE_CURRENT_LIST_DIR}/kmd_standin_windows.h
       ${CMAKE_CURRENT_LIST_DIR}/running_standin.h
  SRCS ${CMAKE_CURRENT_LIST_DIR}/kmd_on_standin.cc ${CMAKE_CURRENT_LIST_DIR}/test_card.cc ${CMAKE_CURRENT_LIST_DIR}/kmd_standin.cc
       ${CMAKE_CURRENT_LIST_DIR}/kmd_standin_memory.cc
       ${CMAKE_CURRENT_LIST_DIR}/kmd_standin_pins.cc ${CMAKE_CURRENT_LIST_DIR}/kmd_standin_windows.cc
       ${CMAKE_CURRENT_LIST_DIR}/running_standin.cc
  DEPS runtime_device_kmd runtime_device_sim PACKAGES GTest::gtest)
# The daemon on it.
ttfd_program(NAME ttfd_on_standin SRCS ${CMAKE_CURRENT_LIST_DIR}/ttfd_on_standin.cc DEPS daemon_run kmd_standin
  PACKAGES GTest::gtest)
# A host in memory, for the doctor.
ttfd_library(NAME host_tree HDRS ${CMAKE_CURRENT_LIST_DIR}/host_tree.h SRCS ${CMAKE_CURRENT_LIST_DIR}/host_tree.cc DEPS runtime_device_kmd
  PACKAGES GTest::gtest)
