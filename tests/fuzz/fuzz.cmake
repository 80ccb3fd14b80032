# Fuzz targets of what reads bytes that others made: kernels of clients, record streams, what kernels print, instructions of the Tensix engine, files of compilers and of models. docs/testing.md says how to run them.
set(fuzz_dir ${CMAKE_CURRENT_LIST_DIR})
ttfd_fuzz(NAME fuzz_kernel_elf SRCS ${fuzz_dir}/fuzz_kernel_elf.cc CORPUS ${fuzz_dir}/corpus/kernel_elf
  DEPS runtime_boot runtime_command runtime_abi runtime_base runtime_elf)
ttfd_fuzz(NAME fuzz_record_entry SRCS ${fuzz_dir}/fuzz_record_entry.cc CORPUS ${fuzz_dir}/corpus/record_entry
  DEPS runtime_command runtime_base)
ttfd_fuzz(NAME fuzz_record_file SRCS ${fuzz_dir}/fuzz_record_file.cc CORPUS ${fuzz_dir}/corpus/record_file
  DEPS runtime_command runtime_base)
ttfd_fuzz(NAME fuzz_firmware_record SRCS ${fuzz_dir}/fuzz_firmware_record.cc ${fuzz_dir}/tame_record.cc
  CORPUS ${fuzz_dir}/corpus/firmware_record CHANGES 400 DEPS firmware_bench)
ttfd_fuzz(NAME fuzz_gdb_session SRCS ${fuzz_dir}/fuzz_gdb_session.cc CORPUS ${fuzz_dir}/corpus/gdb_session
  DEPS runtime_debug runtime_device_sim)
ttfd_fuzz(NAME fuzz_print_text SRCS ${fuzz_dir}/fuzz_print_text.cc CORPUS ${fuzz_dir}/corpus/print_text
  DEPS runtime_command runtime_abi runtime_base)
ttfd_fuzz(NAME fuzz_session_stream NO_TSAN SRCS ${fuzz_dir}/fuzz_session_stream.cc ${fuzz_dir}/message_source.cc
  CORPUS ${fuzz_dir}/corpus/session_stream DEPS daemon_rpc daemon_core core_fixture ttfd_proto runtime_abi runtime_base)
ttfd_fuzz(NAME fuzz_tensix_engine SRCS ${fuzz_dir}/fuzz_tensix_engine.cc CORPUS ${fuzz_dir}/corpus/tensix_engine CHANGES 300
  DEPS runtime_sim_tensix runtime_base)
ttfd_fuzz(NAME fuzz_compute_queue SRCS ${fuzz_dir}/fuzz_compute_queue.cc CORPUS ${fuzz_dir}/corpus/tensix_engine CHANGES 300
  DEPS runtime_sim runtime_base)
ttfd_fuzz(NAME fuzz_compiled_file SRCS ${fuzz_dir}/fuzz_compiled_file.cc CORPUS ${fuzz_dir}/corpus/compiled_file DEPS ttfd_ttmlir)
ttfd_fuzz(NAME fuzz_safetensors SRCS ${fuzz_dir}/fuzz_safetensors.cc CORPUS ${fuzz_dir}/corpus/safetensors DEPS ttfd_tensor)
if(TARGET fuzz_compiled_file)
  target_compile_definitions(fuzz_compiled_file PRIVATE TTFD_PROFILES="${PROJECT_SOURCE_DIR}/client/ttmlir/profiles")
  # A million changes of files that the compiler wrote, where TTFD_TTMLIR_SAMPLES names a folder of ten.
  add_test(NAME fuzz.compiled_samples COMMAND sh -c "test -d \"$TTFD_TTMLIR_SAMPLES\" || { echo TTFD_TTMLIR_SAMPLES is not set; exit 77; }
exec $<TARGET_FILE:fuzz_compiled_file> \"$TTFD_TTMLIR_SAMPLES\" 100000")
  set_tests_properties(fuzz.compiled_samples PROPERTIES LABELS slow SKIP_RETURN_CODE 77 TIMEOUT 7200)
endif()

# Not run by anything: the seeds they wrote are committed. kernel_elf/ holds kernels of firmware/kernels.
ttfd_program(NAME make_record_seeds SRCS ${fuzz_dir}/make_record_seeds.cc DEPS runtime_command runtime_hw runtime_base)
ttfd_program(NAME make_tensix_seeds SRCS ${fuzz_dir}/make_tensix_seeds.cc DEPS tensix_programs)
ttfd_program(NAME make_firmware_seeds SRCS ${fuzz_dir}/make_firmware_seeds.cc DEPS runtime_abi runtime_base)
ttfd_program(NAME make_compiled_seeds SRCS ${fuzz_dir}/make_compiled_seeds.cc DEPS compiled_file)
