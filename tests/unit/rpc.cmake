# The parts of the gRPC front end that need no server.
ttfd_test(NAME rpc_peers_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_peers_test.cc DEPS daemon_rpc_base)
ttfd_test(NAME rpc_audit_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_audit_test.cc DEPS daemon_rpc_base)
ttfd_test(NAME rpc_replies_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_replies_test.cc DEPS daemon_rpc_base)
ttfd_test(NAME rpc_conversion_test NO_TSAN LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_conversion_test.cc
  DEPS daemon_rpc)
ttfd_test(NAME rpc_link_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_link_test.cc DEPS daemon_rpc_link)
ttfd_test(NAME rpc_scan_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/rpc_scan_test.cc DEPS daemon_rpc_link)

# Sessions as encoded messages, without connections.
add_library(stream_client STATIC ${CMAKE_CURRENT_LIST_DIR}/../support/stream_client.cc)
ttfd_compile_options(stream_client NO_TSAN)
target_link_libraries(stream_client PUBLIC core_fixture daemon_rpc GTest::gtest)
_ttfd_record_layer(stream_client daemon_rpc "")
foreach(name IN ITEMS rpc_resume_test rpc_stream_test rpc_unread_test)
  ttfd_test(NAME ${name} NO_TSAN LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/${name}.cc DEPS stream_client)
endforeach()

ttfd_test(NAME user_names_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/user_names_test.cc DEPS daemon_rpc_base)
ttfd_test(NAME audit_arguments_test NO_TSAN LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/audit_arguments_test.cc
  DEPS daemon_rpc PACKAGES nlohmann_json::nlohmann_json)
