# The firmware and the runtime on a device model that does whatever silicon may do. Six seeds in every run, each with one test
# in six of those that take long, so that all of them run once; a hundred seeds with everything in `slow`.
set(hazard_short firmware_test firmware_hazard_test dispatch_boot_test dispatch_hang_test dispatch_stall_test daemon_core_test
  daemon_queues_test link_test)
set(hazard_long dispatch_launch_test dispatch_queues_test dispatch_trace_test dispatch_transfer_test client_daemon_test)
set(hazard_streams firmware_reference_test)
set(hazard_compute compute_dst_test compute_engine_test compute_pairs_test compute_unary_test op_kernels_test)

# Adds the test NAME: `hazards` with `seeds` through the programs of the lists.
function(_ttfd_hazards name hazards seeds share labels timeout)
  set(programs "")
  foreach(list IN LISTS ARGN)
    foreach(program IN LISTS ${list})  # program, or program:filter
      string(REGEX MATCH "^([^:]*)(:.*)?$" program ${program})
      list(APPEND programs "$<TARGET_FILE:${CMAKE_MATCH_1}>${CMAKE_MATCH_2}")
    endforeach()
  endforeach()
  add_test(NAME ${name} COMMAND /usr/bin/python3 ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/hazards.py --hazards ${hazards}
    --seeds ${seeds} --share ${share}
    ${programs})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout})
endfunction()

foreach(seed RANGE 1 6)
  _ttfd_hazards(hazards.short.seed_${seed} on ${seed} 3 "integration;hazards" 300 hazard_short)
  _ttfd_hazards(hazards.long.seed_${seed} on ${seed} 6 "integration;hazards" 300 hazard_long)
  _ttfd_hazards(hazards.streams.seed_${seed} on ${seed} 1 "integration;hazards" 300 hazard_streams)
  set_tests_properties(hazards.streams.seed_${seed} PROPERTIES ENVIRONMENT "TTFD_STREAMS=4")
endforeach()
foreach(ten RANGE 0 9)
  math(EXPR first "${ten} * 10 + 1")
  math(EXPR last "${ten} * 10 + 10")
  _ttfd_hazards(hazards.hundred.seeds_${first}_${last} on ${first}-${last} 1 "slow;hazards" 3600 hazard_short hazard_long
    hazard_streams hazard_compute)
  set_tests_properties(hazards.hundred.seeds_${first}_${last} PROPERTIES ENVIRONMENT "TTFD_STREAMS=40")
endforeach()
# Firmware, kernels and recovery where the NIUs write translated coordinates back into their command buffers.
foreach(program IN ITEMS firmware_test dispatch_boot_test dispatch_launch_test dispatch_transfer_test dispatch_trace_test
        dispatch_queues_test dispatch_hang_test daemon_core_test firmware_reference_test)
  ttfd_test_again(${program} PREFIX coordinates. LABELS integration FILTER -FirmwareCost.*
    ENVIRONMENT TTFD_TEST_SIM=coordinates=written-back TTFD_STREAMS=4)
endforeach()
# Compute kernels with the hazard of the engine alone, which is quick.
foreach(seed RANGE 1 2)
  _ttfd_hazards(hazards.compute.seed_${seed} compute ${seed} 2 "integration;hazards" 120 hazard_compute)
endforeach()
_ttfd_hazards(hazards.compute.seeds_1_200 compute 1-200 1 "slow;hazards" 3600 hazard_compute)
add_test(NAME hazards.compute_waits.seeds_1_200 COMMAND compute_waits_test --gtest_filter=*InPlace*)
set_tests_properties(hazards.compute_waits.seeds_1_200 PROPERTIES LABELS "slow;hazards" TIMEOUT 3600 ENVIRONMENT "TTFD_SEEDS=200")

# Task graphs under each hazard alone and under all; in every run each seed with one number of workers.
set(hazard_graphs graph_random_test:Workers/* graph_daemon_test:*Timelines:*OfTheirOwn graph_compute_test)
foreach(hazards IN ITEMS l0cache stores noc streams icache localram speed host on)
  _ttfd_hazards(hazards.graphs.${hazards} ${hazards} 1-5 4 "integration;hazards" 120 hazard_graphs)
  _ttfd_hazards(hazards.graphs.${hazards}.seeds_1_50 ${hazards} 1-50 1 "slow;hazards" 3600 hazard_graphs)
  set_tests_properties(hazards.graphs.${hazards} hazards.graphs.${hazards}.seeds_1_50 PROPERTIES ENVIRONMENT "TTFD_SEEDS=1")
endforeach()
