# Runs at install time, because the paths in the unit depend on the prefix that is known only then.
# Expects TTFD_SOURCE and TTFD_BINDIR (relative to the prefix).
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" OR CMAKE_INSTALL_PREFIX STREQUAL "/")
  set(configuration_folder "/etc/ttfd")
else()
  set(configuration_folder "${CMAKE_INSTALL_PREFIX}/etc/ttfd")
endif()
set(TTFD_BINARY "${CMAKE_INSTALL_PREFIX}/${TTFD_BINDIR}/ttfd")
set(TTFD_CONFIG "${configuration_folder}/ttfd.toml")
set(library "${CMAKE_INSTALL_PREFIX}/lib")

set(root "$ENV{DESTDIR}")
configure_file("${TTFD_SOURCE}/ttfd.service.in" "${root}${library}/systemd/system/ttfd.service" @ONLY)
configure_file("${TTFD_SOURCE}/ttfd.socket" "${root}${library}/systemd/system/ttfd.socket" COPYONLY)
configure_file("${TTFD_SOURCE}/ttfd.sysusers" "${root}${library}/sysusers.d/ttfd.conf" COPYONLY)
if(EXISTS "${root}${TTFD_CONFIG}")
  # What an administrator wrote is kept; the new one lies beside it.
  configure_file("${TTFD_SOURCE}/ttfd.toml" "${root}${TTFD_CONFIG}.new" COPYONLY)
else()
  configure_file("${TTFD_SOURCE}/ttfd.toml" "${root}${TTFD_CONFIG}" COPYONLY)
endif()
message(STATUS "Installed: ${root}${library}/systemd/system/ttfd.service, ${root}${TTFD_CONFIG}")
