# Tables of tt-mlir's system files with this hash. Written by make_profile.py; src/profile.h has the format.
file TTSY
hash 92f6a8a87b72abd510d53425c6cd90ab2e8ba161928ee94c8bdd6680f51d9cdb
root SystemDescRoot
enum Arch u32 Wormhole_b0=0 Blackhole=1 Quasar=2
table CPUDesc role@0:CPURole target_triple@1:text
enum CPURole u8 Host=0 Device=1
flags ChipCapability u32 HostMMIO=1
struct ChipChannel 24 device_id0@0:u32 ethernet_core_coord0@4:Dim2d device_id1@12:u32 ethernet_core_coord1@16:Dim2d
struct ChipCoord 16 rack@0:u32 shelf@4:u32 y@8:u32 x@12:u32
table ChipDesc arch@0:Arch grid_size@1:Dim2d coord_translation_offsets@2:Dim2d l1_size@3:u64 num_dram_channels@4:u32 dram_channel_size@5:u64 noc_l1_address_align_bytes@6:u32 pcie_address_align_bytes@7:u32 noc_dram_address_align_bytes@8:u32 l1_unreserved_base@9:u32 erisc_l1_unreserved_base@10:u32 dram_unreserved_base@11:u32 dram_unreserved_end@12:u32 supported_data_types@13:[DataType] supported_tile_sizes@14:[Dim2d] dst_physical_size_tiles@15:u32 num_cbs@16:u32 num_compute_threads@17:u32 num_datamovement_threads@18:u32 dram_grid_size@19:Dim2d dram_bank_to_logical_worker_noc0@20:[Dim2d] dram_bank_to_logical_worker_noc1@21:[Dim2d]
enum DataType u16 Float32=0 Float16=1 BFloat16=2 BFP_Float8=3 BFP_BFloat8=4 BFP_Float4=5 BFP_BFloat4=6 BFP_Float2=7 BFP_BFloat2=8 UInt32=9 UInt16=10 UInt8=11 Int32=12 Float64=13 Int64=14 UInt64=15 Int16=16 Int8=17 Bool=18
struct Dim2d 8 y@0:i32 x@4:i32
table SystemDesc cpu_descs@0:[CPUDesc] chip_descs@1:[ChipDesc] chip_desc_indices@2:[u32] chip_capabilities@3:[ChipCapability] chip_coords@4:[ChipCoord] chip_channels@5:[ChipChannel]
table SystemDescRoot version@0:Version schema_hash@1:text ttmlir_git_hash@2:text product_identifier@3:text system_desc@4:SystemDesc
struct Version 8 major@0:u16 minor@2:u16 patch@4:u32
