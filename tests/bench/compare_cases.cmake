# ttfd_bench --compare.
ttfd_library(NAME bench_compare_cases SRCS ${CMAKE_CURRENT_LIST_DIR}/compare_cases.cc DEPS bench_core bench_device_cases bench_tensix_cases
  runtime_device runtime_card)
