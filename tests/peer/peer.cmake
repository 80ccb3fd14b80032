# The model through the official simulator's C interface, and beside that simulator where it is configured.
ttfd_program(NAME sequence_driver SRCS ${CMAKE_CURRENT_LIST_DIR}/sequence_driver.cc PACKAGES ${CMAKE_DL_LIBS})
ttfd_library(NAME peer_support HDRS ${CMAKE_CURRENT_LIST_DIR}/driver_process.h
  SRCS ${CMAKE_CURRENT_LIST_DIR}/driver_process.cc DEPS runtime_base)
target_compile_definitions(peer_support PUBLIC TTFD_SEQUENCE_DRIVER="$<TARGET_FILE:sequence_driver>"
  TTFD_SIM_LIBRARY="$<TARGET_FILE:ttfd_sim_shared>" TTFD_TTSIM_LIBRARY="${TTFD_TTSIM_LIB}")
add_dependencies(peer_support sequence_driver ttfd_sim_shared)

ttfd_test(NAME simlib_test LABELS conformance DEPS peer_support runtime_hw SRCS ${CMAKE_CURRENT_LIST_DIR}/simlib_test.cc)
