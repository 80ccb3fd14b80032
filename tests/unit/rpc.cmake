# The parts of the gRPC front end that need no server.
ttfd_test(NAME rpc_base_test LABELS unit DEPS daemon_rpc_base
  SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_audit_test.cc ${CMAKE_CURRENT_LIST_DIR}/rpc_peers_test.cc ${CMAKE_CURRENT_LIST_DIR}/rpc_poller_tasks_test.cc ${CMAKE_CURRENT_LIST_DIR}/user_names_test.cc)
ttfd_test(NAME rpc_link_test LABELS unit DEPS daemon_rpc_link
  SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_link_test.cc ${CMAKE_CURRENT_LIST_DIR}/rpc_scan_test.cc)
ttfd_test(NAME rpc_conversion_test NO_TSAN LABELS unit DEPS daemon_rpc PACKAGES nlohmann_json::nlohmann_json
  SRCS ${CMAKE_CURRENT_LIST_DIR}/audit_arguments_test.cc ${CMAKE_CURRENT_LIST_DIR}/rpc_conversion_test.cc)

# Sessions as encoded messages, without connections.
add_library(stream_client STATIC ${CMAKE_CURRENT_LIST_DIR}/../support/stream_client.cc)
ttfd_compile_options(stream_client NO_TSAN)
target_link_libraries(stream_client PUBLIC core_fixture daemon_rpc GTest::gtest)
_ttfd_record_layer(stream_client daemon_rpc "")
ttfd_test(NAME rpc_stream_test NO_TSAN LABELS unit DEPS stream_client
  SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_resume_test.cc ${CMAKE_CURRENT_LIST_DIR}/rpc_stream_test.cc ${CMAKE_CURRENT_LIST_DIR}/rpc_unread_test.cc)
# Counts what is allocated.
ttfd_test(NAME rpc_memory_test NO_TSAN LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_memory_test.cc DEPS stream_client)
