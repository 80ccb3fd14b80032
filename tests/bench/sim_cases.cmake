# The tensix.* cases of ttfd_bench.
ttfd_library(NAME bench_tensix_cases SRCS ${CMAKE_CURRENT_LIST_DIR}/tensix_cases.cc DEPS bench_core runtime_device runtime_hw)
# The sim.* cases of ttfd_bench.
ttfd_library(NAME bench_sim_cases SRCS ${CMAKE_CURRENT_LIST_DIR}/bounds_case.cc ${CMAKE_CURRENT_LIST_DIR}/sim_cases.cc
  DEPS bench_core firmware_kernels runtime_device_sim runtime_card)
