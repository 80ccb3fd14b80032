# Unit tests of libttfd_ttmlir.
ttfd_test(NAME ttmlir_test LABELS unit
  SRCS ${CMAKE_CURRENT_LIST_DIR}/kernel_compiler_test.cc ${CMAKE_CURRENT_LIST_DIR}/ttmlir_file_test.cc ${CMAKE_CURRENT_LIST_DIR}/ttmlir_profile_test.cc ${CMAKE_CURRENT_LIST_DIR}/ttmlir_system_test.cc
  DEPS compiled_file ttfd_ttmlir)
