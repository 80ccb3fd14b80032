# Tasks that hang or fault.
ttfd_test(NAME graph_hang_test LABELS fault TIMEOUT 120
  SRCS ${CMAKE_CURRENT_LIST_DIR}/graph_hang_test.cc DEPS ttfd_client_daemon ttfd_random_graph)
add_dependencies(graph_hang_test kernel_empty kernel_task_mix kernel_task_stop kernel_task_stop_engine)
ttfd_test_again(graph_hang_test PREFIX seeds_1_50. LABELS slow fault ENVIRONMENT TTFD_SEEDS=50)
