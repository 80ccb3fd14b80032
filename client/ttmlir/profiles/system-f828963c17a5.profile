# Tables of tt-mlir's system files with this hash. Written by make_profile.py; src/profile.h has the format.
extends system-9c61739ba0dc
file TTSY
hash f828963c17a541cde585a35822a0ace7c809e8a4
root SystemDescRoot
without ChipPhysicalCores DataType
struct ChipChannel 8 endpoint0@0:u32 endpoint1@4:u32
table ChipDesc arch@0:Arch grid_size@1:Dim2d l1_size@2:u64 num_dram_channels@3:u32 dram_channel_size@4:u64 noc_l1_address_align_bytes@5:u32 pcie_address_align_bytes@6:u32 noc_dram_address_align_bytes@7:u32
