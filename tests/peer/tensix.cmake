# Random programs for the Tensix engine of a tile, on the model and next to the official simulator where it is configured.
set(peer_dir ${CMAKE_CURRENT_LIST_DIR})
ttfd_library(NAME tensix_programs
  HDRS ${peer_dir}/tensix_generator.h ${peer_dir}/tensix_mover.h ${peer_dir}/tensix_program.h ${peer_dir}/tensix_refusals.h
       ${peer_dir}/tensix_runs.h ${peer_dir}/tensix_setup.h ${peer_dir}/tensix_state.h
       ${peer_dir}/tensix_units.h ${peer_dir}/tensix_writer.h ${peer_dir}/tensix_hashes.inc
  SRCS ${peer_dir}/tensix_data_programs.cc ${peer_dir}/tensix_generator.cc ${peer_dir}/tensix_lane_programs.cc
       ${peer_dir}/tensix_math_programs.cc ${peer_dir}/tensix_move_programs.cc ${peer_dir}/tensix_mover.cc
       ${peer_dir}/tensix_operands.cc ${peer_dir}/tensix_program.cc ${peer_dir}/tensix_refusals.cc ${peer_dir}/tensix_runs.cc ${peer_dir}/tensix_setup.cc ${peer_dir}/tensix_state.cc
       ${peer_dir}/tensix_transfer.cc ${peer_dir}/tensix_writer.cc
  DEPS peer_support runtime_hw runtime_sim_tensix)
ttfd_program(NAME tensix_hashes SRCS ${peer_dir}/tensix_hashes.cc DEPS tensix_programs)

ttfd_test(NAME tensix_model_test LABELS conformance DEPS tensix_programs SRCS ${peer_dir}/tensix_model_test.cc)
ttfd_test(NAME tensix_peer_test LABELS ttsim TIMEOUT 600 DEPS tensix_programs SRCS ${peer_dir}/tensix_peer_test.cc)
# Fifty times as many programs, others than the test above runs.
add_test(NAME tensix_peer_soak COMMAND tensix_peer_test --gtest_filter=*.ProgramsHaveEqualResults/*)
set_tests_properties(tensix_peer_soak PROPERTIES LABELS slow TIMEOUT 7200 SKIP_REGULAR_EXPRESSION "no libttsim.so is named"
  ENVIRONMENT "TTFD_PEER_FIRST=1000000;TTFD_PEER_COUNT=100000")
