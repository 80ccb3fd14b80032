# Commands: encoder, decoder, programs.
ttfd_test(NAME command_test LABELS unit DEPS runtime_command
  SRCS ${CMAKE_CURRENT_LIST_DIR}/command_bytes_test.cc ${CMAKE_CURRENT_LIST_DIR}/command_decode_test.cc ${CMAKE_CURRENT_LIST_DIR}/command_print_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/command_program_test.cc ${CMAKE_CURRENT_LIST_DIR}/command_refusal_test.cc ${CMAKE_CURRENT_LIST_DIR}/command_roundtrip_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/command_trace_test.cc ${CMAKE_CURRENT_LIST_DIR}/command_transfer_test.cc ${CMAKE_CURRENT_LIST_DIR}/command_writer_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/record_batch_test.cc)
