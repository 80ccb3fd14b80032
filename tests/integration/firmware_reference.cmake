# Random record streams: the firmware on the device model against a reference executor.
add_library(record_streams STATIC
  ${CMAKE_CURRENT_LIST_DIR}/../support/reference_card.cc ${CMAKE_CURRENT_LIST_DIR}/../support/reference_dispatch.cc
  ${CMAKE_CURRENT_LIST_DIR}/../support/reference_executor.cc
  ${CMAKE_CURRENT_LIST_DIR}/../support/stream_generator.cc ${CMAKE_CURRENT_LIST_DIR}/../support/stream_goes.cc
  ${CMAKE_CURRENT_LIST_DIR}/../support/stream_queue.cc ${CMAKE_CURRENT_LIST_DIR}/../support/stream_runner.cc
  ${CMAKE_CURRENT_LIST_DIR}/../support/stream_supply.cc ${CMAKE_CURRENT_LIST_DIR}/../support/stream_trace.cc
  ${CMAKE_CURRENT_LIST_DIR}/../support/stream_writes.cc)
ttfd_compile_options(record_streams)
target_include_directories(record_streams PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(record_streams PUBLIC firmware_bench runtime_command)

ttfd_test(NAME firmware_reference_test LABELS integration SRCS ${CMAKE_CURRENT_LIST_DIR}/firmware_reference_test.cc
  DEPS record_streams TIMEOUT 240)
ttfd_test(NAME firmware_soak_test LABELS slow SRCS ${CMAKE_CURRENT_LIST_DIR}/firmware_soak_test.cc DEPS record_streams
  TIMEOUT 1200)
ttfd_test(NAME firmware_hazard_test LABELS integration SRCS ${CMAKE_CURRENT_LIST_DIR}/firmware_hazard_test.cc
  DEPS firmware_bench)
