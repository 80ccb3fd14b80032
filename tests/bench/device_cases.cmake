ttfd_library(NAME bench_device_cases SRCS ${CMAKE_CURRENT_LIST_DIR}/device_cases.cc
  DEPS bench_core runtime_card runtime_device_sim firmware_kernels)
