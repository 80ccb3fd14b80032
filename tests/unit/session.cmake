add_library(core_fixture STATIC ${CMAKE_CURRENT_LIST_DIR}/../support/core_fixture.cc
  ${CMAKE_CURRENT_LIST_DIR}/../support/fake_dispatcher.cc)
ttfd_compile_options(core_fixture)
target_link_libraries(core_fixture PUBLIC daemon_session GTest::gtest)
_ttfd_record_layer(core_fixture daemon_session "")

foreach(name IN ITEMS session_flow_test session_refusal_test session_protocol_test session_error_test session_memory_test session_threads_test
        session_circular_buffer_test session_queue_test session_resume_test session_trace_test session_print_test engine_overlap_test engine_recovery_test engine_reset_test
        engine_suspension_test daemon_admin_test session_lease_test session_lease_cut_test session_lease_notice_test session_lease_work_test session_limits_test session_growth_test session_host_memory_test session_window_test session_outbox_test)
  ttfd_test(NAME ${name} LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/${name}.cc DEPS core_fixture)
endforeach()
# Plays long contests through: half a minute under the thread sanitizer.
ttfd_test(NAME session_sharing_test LABELS unit TIMEOUT 240 SRCS ${CMAKE_CURRENT_LIST_DIR}/session_sharing_test.cc DEPS core_fixture)
ttfd_test(NAME lease_table_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/lease_table_test.cc DEPS daemon_session)
foreach(name IN ITEMS fair_queue_test scheduler_test lease_gate_test)
  ttfd_test(NAME ${name} LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/${name}.cc DEPS daemon_scheduler)
endforeach()
ttfd_test(NAME work_track_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/work_track_test.cc DEPS daemon_engine)
ttfd_test(NAME stall_text_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/stall_text_test.cc DEPS daemon_engine)
ttfd_test(NAME kernel_store_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/kernel_store_test.cc DEPS daemon_session)
ttfd_test(NAME session_account_test LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/session_account_test.cc DEPS daemon_session)
