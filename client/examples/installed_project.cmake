# The example programs and their kernels, against an installed libttfd and kernel SDK:
#   cmake -S /usr/share/doc/ttfd/examples -B build && cmake --build build
# Needs g++, libpng-dev and gcc-riscv64-unknown-elf. Installed as CMakeLists.txt beside the sources.
cmake_minimum_required(VERSION 3.25)
project(ttfd_examples LANGUAGES CXX)
find_package(ttfd 0.1 REQUIRED)
find_package(PNG REQUIRED)

foreach(kernel IN ITEMS blur_edge sha256_chunks task_add task_add_scalar task_mix task_multiply tile_report vector_add)
  ttfd_add_kernel(${kernel} PROCESSOR brisc SOURCES kernels/${kernel}.cc)
endforeach()
# A kernel is for one processor, a compute kernel for three: these work together on a tile.
ttfd_add_kernel(tile_reader PROCESSOR ncrisc SOURCES kernels/tile_reader.cc)
ttfd_add_kernel(tile_math COMPUTE SOURCES kernels/tile_math.cc)
ttfd_add_kernel(tile_writer PROCESSOR brisc SOURCES kernels/tile_writer.cc)
ttfd_add_kernel(chain_reader PROCESSOR ncrisc SOURCES kernels/chain_reader.cc)
ttfd_add_kernel(chain_compute COMPUTE SOURCES kernels/chain_compute.cc)
ttfd_add_kernel(chain_writer PROCESSOR brisc SOURCES kernels/chain_writer.cc)

add_executable(chain chain.cc)
add_executable(file_checksum file_checksum.cc)
add_executable(running_sums running_sums.cc)
add_executable(picture_filter picture_filter.cc edge_filter.cc picture.cc)
add_executable(sample_picture sample_picture.cc picture.cc)
add_executable(mlp mlp.cc)
add_executable(task_graph task_graph.cc)
foreach(program IN ITEMS chain file_checksum running_sums picture_filter sample_picture)
  target_link_libraries(${program} PRIVATE ttfd::ttfd PNG::PNG)
endforeach()
target_link_libraries(mlp PRIVATE ttfd::tensor)
target_link_libraries(task_graph PRIVATE ttfd::graph)
