# Tables of tt-mlir's system files with this hash. Written by make_profile.py; src/profile.h has the format.
extends system-92f6a8a87b72
file TTSY
hash f99d7ab2706ef502b53f3cb2dc5615e097aa9911c3cbf4ecc82fc7e98c1cfd87
root SystemDescRoot
enum Arch u32 Grayskull=0 Wormhole_b0=1 Blackhole=2
table ChipDesc arch@0:Arch grid_size@1:Dim2d coord_translation_offsets@2:Dim2d l1_size@3:u64 num_dram_channels@4:u32 dram_channel_size@5:u64 noc_l1_address_align_bytes@6:u32 pcie_address_align_bytes@7:u32 noc_dram_address_align_bytes@8:u32 l1_unreserved_base@9:u32 erisc_l1_unreserved_base@10:u32 dram_unreserved_base@11:u32 dram_unreserved_end@12:u32 supported_data_types@13:[DataType] supported_tile_sizes@14:[Dim2d] dst_physical_size_tiles@15:u32 num_cbs@16:u32 num_compute_threads@17:u32 num_datamovement_threads@18:u32
