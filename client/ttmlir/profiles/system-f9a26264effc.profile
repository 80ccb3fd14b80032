# Tables of tt-mlir's system files with this hash. Written by make_profile.py; src/profile.h has the format.
extends system-9c61739ba0dc
file TTSY
hash f9a26264effcd5a1216d2d0f2c63170c1c3ce798
root SystemDescRoot
without DataType
table ChipDesc arch@0:Arch grid_size@1:Dim2d l1_size@2:u64 num_dram_channels@3:u32 dram_channel_size@4:u64 noc_l1_address_align_bytes@5:u32 pcie_address_align_bytes@6:u32 noc_dram_address_align_bytes@7:u32 physical_cores@8:ChipPhysicalCores
