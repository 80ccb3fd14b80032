# Files of tt-mlir's kinds, written by a profile.
ttfd_library(NAME compiled_file HDRS ${CMAKE_CURRENT_LIST_DIR}/compiled_file.h SRCS ${CMAKE_CURRENT_LIST_DIR}/compiled_file.cc
  DEPS ttfd_ttmlir PACKAGES nlohmann_json::nlohmann_json)
ttfd_program(NAME write_compiled_file SRCS ${CMAKE_CURRENT_LIST_DIR}/compiled_file_main.cc DEPS compiled_file)
