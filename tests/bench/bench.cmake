# ttfd_bench (./dev bench) and ttfd_microbench. The cases of each suite: sim_cases.cc, device_cases.cc, rpc_cases.cc.
set(bench_dir ${CMAKE_CURRENT_LIST_DIR})
set(bench_generated ${CMAKE_CURRENT_BINARY_DIR}/bench_generated)
set(bench_outputs ${bench_generated}/bare_stream.pb.cc ${bench_generated}/bare_stream.pb.h
                  ${bench_generated}/bare_stream.grpc.pb.cc ${bench_generated}/bare_stream.grpc.pb.h)
file(MAKE_DIRECTORY ${bench_generated})
add_custom_command(OUTPUT ${bench_outputs}
  COMMAND protobuf::protoc -I ${bench_dir} --cpp_out=${bench_generated} --grpc_out=${bench_generated}
          --plugin=protoc-gen-grpc=${TTFD_GRPC_CPP_PLUGIN} bare_stream.proto
  DEPENDS ${bench_dir}/bare_stream.proto VERBATIM)
add_library(bench_stream_proto STATIC ${bench_outputs})
target_include_directories(bench_stream_proto SYSTEM PUBLIC ${bench_generated})
target_link_libraries(bench_stream_proto PUBLIC gRPC::grpc++ protobuf::libprotobuf)
_ttfd_record_layer(bench_stream_proto "" "")
add_dependencies(ttfd_generated bench_stream_proto)

ttfd_library(NAME bench_core
  HDRS ${bench_dir}/bench_case.h ${bench_dir}/calibration.h ${bench_dir}/child.h ${bench_dir}/daemon_case.h ${bench_dir}/figure.h ${bench_dir}/exchange.h
  SRCS ${bench_dir}/calibration.cc ${bench_dir}/child.cc ${bench_dir}/daemon_case.cc ${bench_dir}/figure.cc ${bench_dir}/exchange.cc
  DEPS runtime_base runtime_device PACKAGES fmt::fmt benchmark::benchmark)

ttfd_library(NAME bench_bare_stream NO_TSAN
  HDRS ${bench_dir}/bare_stream_case.h SRCS ${bench_dir}/bare_stream_case.cc
  DEPS bench_core bench_stream_proto)

ttfd_program(NAME bench_stream_server NO_TSAN SRCS ${bench_dir}/bare_stream_server.cc DEPS bench_stream_proto)

ttfd_library(NAME bench_firmware_costs HDRS ${bench_dir}/firmware_costs.h SRCS ${bench_dir}/firmware_costs.cc
  DEPS bench_core PACKAGES firmware_bench)

add_library(bench_lock_counter MODULE ${bench_dir}/lock_counter.cc)
target_link_libraries(bench_lock_counter PRIVATE ${CMAKE_DL_LIBS})
_ttfd_record_layer(bench_lock_counter "" "")

ttfd_program(NAME ttfd_bench SRCS ${bench_dir}/main.cc
  DEPS bench_core bench_bare_stream bench_firmware_costs bench_sim_cases bench_tensix_cases bench_device_cases bench_compare_cases
       bench_graph_cases bench_hang_cases bench_link_cases bench_remote_cases bench_ring_cases bench_rpc_cases bench_tensor_cases test_device)

add_dependencies(ttfd_bench bench_stream_server bench_lock_counter ttfd ttfd_python)
add_test(NAME bench.smoke COMMAND ttfd_bench --smoke --daemon $<TARGET_FILE:ttfd>)
set_tests_properties(bench.smoke PROPERTIES LABELS bench-smoke TIMEOUT 300 RUN_SERIAL TRUE)
add_test(NAME bench.compare_smoke COMMAND ttfd_bench --smoke --daemon $<TARGET_FILE:ttfd> --compare ttsim)
set_tests_properties(bench.compare_smoke PROPERTIES LABELS "ttsim" TIMEOUT 300 SKIP_REGULAR_EXPRESSION "skipped: ")

ttfd_program(NAME ttfd_microbench SRCS ${bench_dir}/microbench.cc
  DEPS runtime_command runtime_memory runtime_queue PACKAGES benchmark::benchmark)
add_test(NAME bench.micro COMMAND ttfd_microbench --benchmark_min_time=0.001)
set_tests_properties(bench.micro PROPERTIES LABELS bench-smoke TIMEOUT 120)

ttfd_test(NAME bench_figure_test LABELS unit SRCS ${bench_dir}/figure_test.cc DEPS bench_core bench_firmware_costs)
