# The link.* cases of ttfd_bench.
ttfd_library(NAME bench_link_cases SRCS ${CMAKE_CURRENT_LIST_DIR}/link_cases.cc DEPS bench_core linked_cards)
