foreach(name IN ITEMS command_bytes_test command_decode_test command_print_test command_program_test command_refusal_test
    command_roundtrip_test command_trace_test command_transfer_test command_writer_test record_batch_test)
  ttfd_test(NAME ${name} LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/${name}.cc DEPS runtime_command)
endforeach()
