ttfd_program(NAME ttfd_core_bench SRCS ${CMAKE_CURRENT_LIST_DIR}/core_cases.cc DEPS core_fixture PACKAGES benchmark::benchmark)
add_test(NAME bench.core COMMAND ttfd_core_bench --benchmark_min_time=0.001)
set_tests_properties(bench.core PROPERTIES LABELS bench-smoke TIMEOUT 120)
