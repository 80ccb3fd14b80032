add_library(core_fixture STATIC ${CMAKE_CURRENT_LIST_DIR}/../support/core_fixture.cc
  ${CMAKE_CURRENT_LIST_DIR}/../support/fake_card.cc ${CMAKE_CURRENT_LIST_DIR}/../support/fake_memory.cc)
ttfd_compile_options(core_fixture)
target_link_libraries(core_fixture PUBLIC daemon_core GTest::gtest)
_ttfd_record_layer(core_fixture daemon_core "")

# Contests that session_sharing_test plays through take half a minute under the thread sanitizer.
ttfd_test(NAME session_test LABELS unit TIMEOUT 240 DEPS core_fixture
  SRCS ${CMAKE_CURRENT_LIST_DIR}/kernel_store_test.cc ${CMAKE_CURRENT_LIST_DIR}/lease_table_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_account_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/session_circular_buffer_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_error_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_flow_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/session_input_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/session_growth_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_host_memory_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_lease_cut_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/session_lease_notice_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_lease_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_lease_work_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/session_limits_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_memory_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_outbox_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/session_print_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_protocol_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_queue_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/session_refusal_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_resume_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_sharing_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/session_threads_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_trace_test.cc ${CMAKE_CURRENT_LIST_DIR}/session_window_test.cc)
ttfd_test(NAME card_executor_test LABELS unit DEPS core_fixture daemon_hang
  SRCS ${CMAKE_CURRENT_LIST_DIR}/daemon_admin_test.cc ${CMAKE_CURRENT_LIST_DIR}/daemon_cards_test.cc ${CMAKE_CURRENT_LIST_DIR}/card_hang_test.cc ${CMAKE_CURRENT_LIST_DIR}/card_overlap_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/card_recovery_test.cc ${CMAKE_CURRENT_LIST_DIR}/card_reset_test.cc ${CMAKE_CURRENT_LIST_DIR}/card_quarantine_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/hang_store_test.cc ${CMAKE_CURRENT_LIST_DIR}/hang_writer_test.cc ${CMAKE_CURRENT_LIST_DIR}/stall_text_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/device_requests_test.cc ${CMAKE_CURRENT_LIST_DIR}/queue_slices_test.cc ${CMAKE_CURRENT_LIST_DIR}/recovery_plan_test.cc)
target_compile_definitions(card_executor_test PRIVATE TTFD_SNAPSHOTS="${PROJECT_SOURCE_DIR}/tests/snapshots")
ttfd_test(NAME scheduler_test LABELS unit DEPS daemon_scheduler
  SRCS ${CMAKE_CURRENT_LIST_DIR}/fair_queue_test.cc ${CMAKE_CURRENT_LIST_DIR}/lease_gate_test.cc ${CMAKE_CURRENT_LIST_DIR}/scheduler_test.cc)
