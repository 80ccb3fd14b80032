# Unit tests of libttfd_tensor: lowerings as values; calls against a fake daemon.
ttfd_test(NAME tensor_test NO_TSAN LABELS unit
  SRCS ${CMAKE_CURRENT_LIST_DIR}/tensor_attention_test.cc ${CMAKE_CURRENT_LIST_DIR}/tensor_call_test.cc ${CMAKE_CURRENT_LIST_DIR}/tensor_lowering_test.cc
       ${CMAKE_CURRENT_LIST_DIR}/safetensors_test.cc ${CMAKE_CURRENT_LIST_DIR}/tensor_move_test.cc ${CMAKE_CURRENT_LIST_DIR}/tensor_values_test.cc
  DEPS ttfd_tensor ttfd_fake_daemon ttfd_fake_server)
