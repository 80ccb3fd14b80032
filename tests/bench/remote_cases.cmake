# The remote.* cases of ttfd_bench.
ttfd_library(NAME bench_remote_cases SRCS ${CMAKE_CURRENT_LIST_DIR}/remote_cases.cc
  DEPS bench_core runtime_card runtime_device_sim runtime_fabric)
