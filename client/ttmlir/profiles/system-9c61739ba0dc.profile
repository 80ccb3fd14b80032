# Tables of tt-mlir's system files with this hash. Written by make_profile.py; src/profile.h has the format.
file TTSY
hash 9c61739ba0dcc7dd85a29b353e828933c493f87b
root SystemDescRoot
enum Arch u32 Grayskull=0 Wormhole_b0=1 Blackhole=2
flags ChipCapability u32 PCIE=1 HostMMIO=2
struct ChipChannel 24 device_id0@0:u32 ethernet_core_coord0@4:Dim2d device_id1@12:u32 ethernet_core_coord1@16:Dim2d
struct ChipCoord 16 rack@0:u32 shelf@4:u32 y@8:u32 x@12:u32
table ChipDesc arch@0:Arch grid_size@1:Dim2d l1_size@2:u64 num_dram_channels@3:u32 dram_channel_size@4:u64 noc_l1_address_align_bytes@5:u32 pcie_address_align_bytes@6:u32 noc_dram_address_align_bytes@7:u32 l1_unreserved_base@8:u32 erisc_l1_unreserved_base@9:u32 dram_unreserved_base@10:u32 dram_unreserved_end@11:u32 physical_cores@12:ChipPhysicalCores supported_data_types@13:[DataType] supported_tile_sizes@14:[Dim2d]
table ChipPhysicalCores worker@0:[Dim2d] dram@1:[Dim2d] eth@2:[Dim2d] eth_inactive@3:[Dim2d]
enum DataType u16 Float32=0 Float16=1 BFloat16=2 BFP_Float8=3 BFP_BFloat8=4 BFP_Float4=5 BFP_BFloat4=6 BFP_Float2=7 BFP_BFloat2=8 UInt32=9 UInt16=10 UInt8=11
struct Dim2d 8 y@0:i32 x@4:i32
table SystemDesc chip_descs@0:[ChipDesc] chip_desc_indices@1:[u32] chip_capabilities@2:[ChipCapability] chip_coords@3:[ChipCoord] chip_channels@4:[ChipChannel]
table SystemDescRoot version@0:Version ttmlir_git_hash@1:text product_identifier@2:text system_desc@3:SystemDesc
struct Version 8 major@0:u16 minor@2:u16 patch@4:u32
