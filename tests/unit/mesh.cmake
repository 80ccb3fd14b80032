# Meshes of chips without a daemon.
ttfd_test(NAME mesh_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/mesh_test.cc DEPS ttfd_mesh)
ttfd_test(NAME ring_protocol_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/ring_protocol_test.cc DEPS ttfd_mesh)
