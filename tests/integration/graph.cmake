# libttfd_graph against the real daemon on the embedded device.
ttfd_test(NAME graph_test LABELS integration TIMEOUT 120
  SRCS ${CMAKE_CURRENT_LIST_DIR}/graph_test.cc DEPS ttfd_client_daemon ttfd_graph)
add_dependencies(graph_test kernel_task_mix)
