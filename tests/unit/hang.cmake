# Hang reports: what is written, where, in which order, and how much of it.
foreach(name IN ITEMS hang_store_test hang_writer_test engine_hang_test)
  ttfd_test(NAME ${name} LABELS unit SRCS ${CMAKE_CURRENT_LIST_DIR}/${name}.cc DEPS core_fixture daemon_hang)
endforeach()
