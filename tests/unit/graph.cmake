# Task graphs without a card.
ttfd_test(NAME graph_packing_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/graph_packing_test.cc DEPS ttfd_graph firmware_graph)
ttfd_test(NAME graph_timeline_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/graph_timeline_test.cc DEPS ttfd_graph)
