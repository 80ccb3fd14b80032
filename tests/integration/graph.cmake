# libttfd_graph against the real daemon on the embedded device.
ttfd_library(NAME ttfd_random_graph
  HDRS ${CMAKE_CURRENT_LIST_DIR}/../support/random_graph.h SRCS ${CMAKE_CURRENT_LIST_DIR}/../support/random_graph.cc
  DEPS ttfd_client ttfd_graph)
ttfd_test(NAME graph_daemon_test LABELS integration TIMEOUT 120
  SRCS ${CMAKE_CURRENT_LIST_DIR}/graph_daemon_test.cc DEPS ttfd_client_daemon ttfd_graph)
ttfd_test(NAME graph_random_test LABELS integration TIMEOUT 240
  SRCS ${CMAKE_CURRENT_LIST_DIR}/graph_random_test.cc DEPS ttfd_client_daemon ttfd_random_graph)
ttfd_test(NAME graph_compute_test LABELS integration TIMEOUT 120
  SRCS ${CMAKE_CURRENT_LIST_DIR}/graph_compute_test.cc DEPS ttfd_client_daemon ttfd_graph ttfd_tensor)
add_dependencies(graph_daemon_test kernel_empty kernel_task_configured kernel_task_report)
add_dependencies(graph_compute_test kernel_task_exp kernel_task_matmul kernel_task_report kernel_task_row_expand kernel_task_row_reduce
  kernel_task_tile_reader kernel_task_tile_writer)
add_dependencies(graph_random_test kernel_task_mix)
ttfd_test_again(graph_random_test PREFIX seeds_1_200. LABELS slow FILTER */RandomGraphs.* ENVIRONMENT TTFD_SEEDS=200)
