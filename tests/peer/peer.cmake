# The model through the official simulator's C interface, and beside that simulator where it is configured.
set(peer_dir ${CMAKE_CURRENT_LIST_DIR})
ttfd_program(NAME sequence_driver SRCS ${peer_dir}/sequence_driver.cc PACKAGES ${CMAKE_DL_LIBS})
ttfd_library(NAME peer_support
  HDRS ${peer_dir}/comparison.h ${peer_dir}/driver_process.h ${peer_dir}/hart_program.h ${peer_dir}/refused_operations.h
       ${peer_dir}/golden_runs.h ${peer_dir}/known_differences.h ${peer_dir}/refused_tables.h ${peer_dir}/sequence_builder.h ${peer_dir}/sequence_generator.h
  SRCS ${peer_dir}/comparison.cc ${peer_dir}/driver_process.cc ${peer_dir}/hart_program.cc ${peer_dir}/refused_accesses.cc
       ${peer_dir}/known_differences.cc ${peer_dir}/refused_commands.cc ${peer_dir}/refused_operations.cc ${peer_dir}/refused_programs.cc
       ${peer_dir}/sequence_builder.cc ${peer_dir}/sequence_generator.cc
  DEPS runtime_base runtime_hw)
target_compile_definitions(peer_support PUBLIC TTFD_SEQUENCE_DRIVER="$<TARGET_FILE:sequence_driver>"
  TTFD_SIM_LIBRARY="$<TARGET_FILE:ttfd_sim_shared>" TTFD_TTSIM_LIBRARY="${TTFD_TTSIM_LIB}")
add_dependencies(peer_support sequence_driver ttfd_sim_shared)

ttfd_test(NAME simlib_test LABELS conformance DEPS peer_support SRCS ${peer_dir}/simlib_test.cc)
ttfd_test(NAME sequences_test LABELS conformance DEPS peer_support SRCS ${peer_dir}/sequences_test.cc)
ttfd_test(NAME peer_test LABELS ttsim TIMEOUT 600 DEPS peer_support SRCS ${peer_dir}/peer_test.cc)
