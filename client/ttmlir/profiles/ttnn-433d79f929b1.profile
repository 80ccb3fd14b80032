# Tables of tt-mlir's ttnn files with this hash. Written by make_profile.py; src/profile.h has the format.
extends system-92f6a8a87b72
file TTNN
hash 433d79f929b1097327dd9448324080b13f8fad8c2dd5ab775bd66d9806d5e42d
root TTNNBinary
without SystemDescRoot
table AdamWOp param@0:TensorRef grad@1:TensorRef exp_avg@2:TensorRef exp_avg_sq@3:TensorRef max_exp_avg_sq@4:TensorRef lr@5:f32 beta1@6:f32 beta2@7:f32 beta1_pow@8:f32 beta2_pow@9:f32 epsilon@10:f32 weight_decay@11:f32 stochastic_rounding@12:bool
table AggregateTensorOp in@0:TensorRef out@1:TensorRef composer_config@2:MeshComposerConfig device@3:DeviceRef
table AllGatherOp in@0:TensorRef out@1:TensorRef all_gather_dim@2:i32 cluster_axis@3:u32 sub_device_id@4:u8? memory_config@5:MemoryConfig num_links@6:u32? topology@7:Topology?
table AllReduceAsyncOp in@0:TensorRef out@1:TensorRef reduce_type@2:u32 cluster_axis@3:u32 sub_device_id@4:u8? memory_config@5:MemoryConfig num_links@6:u32? topology@7:Topology?
table AllReduceOp in@0:TensorRef out@1:TensorRef reduce_type@2:u32 cluster_axis@3:u32 sub_device_id@4:u8? memory_config@5:MemoryConfig num_links@6:u32? topology@7:Topology?
table AllToAllCombineOp input_tensor@0:TensorRef expert_metadata@1:TensorRef expert_mapping@2:TensorRef out@3:TensorRef num_devices@4:u32 cluster_axis@5:u32 num_experts_per_tok@6:u32 output_shard_dim@7:u32=2 memory_config@8:MemoryConfig
table AllToAllDispatchMetadataOp input_tensor@0:TensorRef expert_indices@1:TensorRef expert_scores@2:TensorRef expert_mapping@3:TensorRef dispatched@4:TensorRef indices@5:TensorRef scores@6:TensorRef num_devices@7:u32 cluster_axis@8:u32 memory_config@9:MemoryConfig dispatched_buffer@10:TensorRef indices_buffer@11:TensorRef scores_buffer@12:TensorRef cross_device_semaphore@13:GlobalSemaphoreRef
table AllToAllDispatchOp input_tensor@0:TensorRef expert_indices@1:TensorRef expert_mapping@2:TensorRef dispatched@3:TensorRef metadata@4:TensorRef num_devices@5:u32 cluster_axis@6:u32 memory_config@7:MemoryConfig
table AllocateMoeComputeSemaphoreOp core_range_set@0:CoreRangeSet output_height_shard_dim@1:u32 hidden_size@2:u32 initial_value@3:u32? out@4:GlobalSemaphoreRef
table AnnotateOp operand@0:TensorRef result@1:TensorRef annotation@2:text
table ArangeOp device@0:DeviceRef start@1:f32 end@2:f32 step@3:f32 dtype@4:DataType? layout@5:TensorLayout? memcfg@6:MemoryConfig out@7:TensorRef
union ArgRef TensorRef=1:TensorRef GlobalSemaphoreRef=2:GlobalSemaphoreRef
table AssignOp input@0:TensorRef output@1:TensorRef output_memory_config@2:MemoryConfig output_dtype@3:DataType?
table AvgPool2dExtraParams count_include_pad@0:bool
table BatchNormInferenceOp input@0:TensorRef running_mean@1:TensorRef running_var@2:TensorRef epsilon@3:f32 weight@4:TensorRef bias@5:TensorRef memory_config@6:MemoryConfig out@7:TensorRef compute_config@8:DeviceComputeKernelConfig
table BatchNormTrainingOp input@0:TensorRef running_mean@1:TensorRef running_var@2:TensorRef epsilon@3:f32 momentum@4:f32 weight@5:TensorRef bias@6:TensorRef memory_config@7:MemoryConfig out@8:TensorRef compute_config@9:DeviceComputeKernelConfig
table BeginTraceCaptureOp device@0:DeviceRef trace_id@1:TensorRef cq_id@2:u32
table BitcastConvertOp in@0:TensorRef dtype@1:DataType memcfg@2:MemoryConfig out@3:TensorRef
table BreakpointOp operand@0:TensorRef
enum BufferType u16 DRAM=0 L1=1 SystemMemory=2 L1Small=3 Trace=4
table CaptureOrExecuteTraceOp device@0:DeviceRef capture_program_id@1:u32 execute_program_id@2:u32 allocate_slots_program_id@3:u32 inputs@4:[TensorRef] outputs@5:[TensorRef] semaphore_inputs@6:[GlobalSemaphoreRef]
table ChunkedScaledDotProductAttentionOp query@0:TensorRef key@1:TensorRef value@2:TensorRef page_table@3:TensorRef chunk_start_idx@4:TensorRef scale@5:f32? out@6:TensorRef memcfg@7:MemoryConfig program_config@8:SDPAConfig
table ClampScalarOpParams min@1:NumberType max@3:NumberType
table ClampTensorOpParams min@0:TensorRef max@1:TensorRef
table ComputeKernelConfig math_fidelity@0:MathFidelity=4 fp32_dest_acc_en@1:bool dst_full_sync_en@2:bool unpack_to_dest_modes@3:[UnpackToDestMode] bfp8_pack_precise@4:bool math_approx_mode@5:bool
table ConcatOp inputs@0:[TensorRef] out@1:TensorRef dim@2:i32 memory_config@3:MemoryConfig
table ConcatenateHeadsOp in@0:TensorRef out@1:TensorRef memcfg@2:MemoryConfig
table ConstantOp device@0:DeviceRef input@1:[u8] input_dtype@2:DataType dtype@3:DataType? layout@4:TensorLayout? memcfg@5:MemoryConfig out@6:TensorRef
table Conv1dOp input@0:TensorRef weight@1:TensorRef bias@2:TensorRef out@3:TensorRef device@4:DeviceRef in_channels@5:u32 out_channels@6:u32 batch_size@7:u32 input_length@8:u32 kernel_size@9:u32 stride@10:u32 padding@11:[i32] dilation@12:u32 groups@13:u32 output_dtype@14:DataType? conv2d_config@15:Conv2dConfig compute_config@16:DeviceComputeKernelConfig conv2d_slice_config@17:Conv2dSliceConfig
table Conv2dConfig weights_dtype@0:DataType? activation@1:UnaryWithParam deallocate_activation@2:bool? reallocate_halo_output@3:bool? act_block_h_override@4:u32? act_block_w_div@5:u32? reshard_if_not_optimal@6:bool? override_sharding_config@7:bool? shard_layout@8:TensorMemoryLayout? core_grid@9:CoreRangeSet transpose_shards@10:bool? output_layout@11:TensorLayout? enable_act_double_buffer@12:bool? enable_weights_double_buffer@13:bool? enable_kernel_stride_folding@14:bool? config_tensors_in_dram@15:bool?
table Conv2dOp input@0:TensorRef weight@1:TensorRef bias@2:TensorRef out@3:TensorRef device@4:DeviceRef in_channels@5:u32 out_channels@6:u32 batch_size@7:u32 input_height@8:u32 input_width@9:u32 kernel_size@10:[i32] stride@11:[i32] padding@12:[i32] dilation@13:[i32] groups@14:u32 output_dtype@15:DataType? conv2d_config@16:Conv2dConfig compute_config@17:DeviceComputeKernelConfig conv2d_slice_config@18:Conv2dSliceConfig
table Conv2dSliceConfig slice_type@0:Conv2dSliceType num_slices@1:u32
enum Conv2dSliceType u16 DramHeight=0 DramWidth=1 L1Full=2
table Conv3dConfig weights_dtype@0:DataType? t_out_block@1:u32? w_out_block@2:u32? h_out_block@3:u32? c_out_block@4:u32? c_in_block@5:u32? compute_with_storage_grid_size@6:CoreCoord
table Conv3dOp input@0:TensorRef weight@1:TensorRef bias@2:TensorRef out@3:TensorRef device@4:DeviceRef in_channels@5:u32 out_channels@6:u32 batch_size@7:u32 input_depth@8:u32 input_height@9:u32 input_width@10:u32 kernel_size@11:[i32] stride@12:[i32] padding@13:[i32] padding_mode@14:text groups@15:u32 output_dtype@16:DataType? conv3d_config@17:Conv3dConfig compute_config@18:DeviceComputeKernelConfig memory_config@19:MemoryConfig
table ConvTranspose2dOp input@0:TensorRef weight@1:TensorRef bias@2:TensorRef out@3:TensorRef device@4:DeviceRef in_channels@5:u32 out_channels@6:u32 batch_size@7:u32 input_height@8:u32 input_width@9:u32 kernel_size@10:[i32] stride@11:[i32] padding@12:[i32] output_padding@13:[i32] dilation@14:[i32] groups@15:u32 output_dtype@16:DataType? conv2d_config@17:Conv2dConfig compute_config@18:DeviceComputeKernelConfig memory_config@19:MemoryConfig conv2d_slice_config@20:Conv2dSliceConfig
table CopyOp src@0:TensorRef dst@1:TensorRef
struct CoreCoord 16 x@0:u64 y@8:u64
struct CoreRange 32 start_coord@0:CoreCoord end_coord@16:CoreCoord
table CoreRangeSet core_ranges@0:[CoreRange]
table CoreRuntimeArgs core_coord@0:CoreCoord args@1:KernelCoreArgs
enum CoreType u8 WORKER=0 ETH=1
table CpuOp ins@0:[TensorRef] outs@1:[TensorRef] func_name@2:text dylib_id@3:u32
table CreateGlobalSemaphoreOp core_range_set@0:CoreRangeSet initial_value@1:u32? out@2:GlobalSemaphoreRef
table CumProdOp in@0:TensorRef out@1:TensorRef dim@2:i32 dtype@3:DataType? memcfg@4:MemoryConfig
table CumSumOp in@0:TensorRef out@1:TensorRef dim@2:i32 dtype@3:DataType? memcfg@4:MemoryConfig
table DataMovementKernelConfig processor@0:DataMovementType noc@1:NocIndex noc_mode@2:NocMode
enum DataMovementType u8 RISCV_0=0 RISCV_1=1
table DeallocateOp in@0:TensorRef force@1:bool
table DebugInfo cpp@0:text mlir_stages@1:[MLIR] golden_info@2:GoldenInfo
table DeviceComputeKernelConfig math_fidelity@0:MathFidelity? math_approx_mode@1:bool? fp32_dest_acc_en@2:bool? packer_l1_acc@3:bool? dst_full_sync_en@4:bool?
table DeviceRef global_id@0:u32
table DistributeTensorOp in@0:TensorRef out@1:TensorRef mapper_config@2:MeshMapperConfig device@3:DeviceRef cq_id@4:u32?
table DistributedRMSNormOp input@0:TensorRef weight@1:TensorRef residual@2:TensorRef cluster_axis@3:u32 epsilon@4:f32 sub_device_id@5:u8? memory_config@6:MemoryConfig num_links@7:u32? topology@8:Topology? compute_config@9:DeviceComputeKernelConfig stats@10:TensorRef program_config@11:LayerNormShardedMultiCoreProgramConfig out@12:TensorRef semaphore@13:GlobalSemaphoreRef
table DropoutOp in@0:TensorRef prob@1:f32 scale@2:f32 seed@3:u32 use_per_device_seed@4:bool=1 output_dtype@5:DataType? memory_config@6:MemoryConfig out@7:TensorRef
table DumpTensorOp file_path@0:text in@1:TensorRef
table DynamicLib dylib_id@0:u32 raw_file@1:[u8]
table EltwiseBinaryCompositeOp type@0:EltwiseBinaryCompositeOpType lhs@1:TensorRef rhs@2:TensorRef memory_config@3:MemoryConfig out@4:TensorRef
enum EltwiseBinaryCompositeOpType u32 Maximum=0 Minimum=1 Remainder=2 Pow=3 Atan2=4 BitwiseAnd=5 BitwiseOr=6 BitwiseXor=7 LogicalLeftShift=8
table EltwiseBinaryCompositeScalarOp type@0:EltwiseBinaryCompositeScalarOpType lhs@1:TensorRef rhs@3:NumberType memory_config@4:MemoryConfig out@5:TensorRef
enum EltwiseBinaryCompositeScalarOpType u32 PowScalar=0
table EltwiseBinaryOp type@0:EltwiseBinaryOpType lhs@1:TensorRef rhs@2:TensorRef output_dtype@3:DataType? memory_config@4:MemoryConfig out@5:TensorRef
enum EltwiseBinaryOpType u32 Add=0 Multiply=1 LogicalRightShift=2 Subtract=3 Equal=4 NotEqual=5 GreaterEqual=6 GreaterThan=7 LessEqual=8 LessThan=9 Divide=10 LogicalAnd=11 LogicalOr=12 LogicalXor=13
table EltwiseOpWithFloatParams parameter@0:f32
table EltwiseQuantizationOp type@0:EltwiseQuantizationOpType in@1:TensorRef axis@2:i32? output_dtype@3:DataType? memory_config@4:MemoryConfig out@5:TensorRef params@7:EltwiseQuantizationOpParams
union EltwiseQuantizationOpParams QuantizeDequantizeOpParams=1:QuantizeDequantizeOpParams RequantizeOpParams=2:RequantizeOpParams
enum EltwiseQuantizationOpType u32 Quantize=0 Dequantize=1 Requantize=2
table EltwiseTernaryWhereOp first@0:TensorRef second@1:TensorRef third@2:TensorRef memory_config@3:MemoryConfig out@4:TensorRef
table EltwiseUnaryCompositeOp type@0:EltwiseUnaryCompositeOpType in@1:TensorRef memory_config@2:MemoryConfig out@3:TensorRef params@5:EltwiseUnaryCompositeOpParams
union EltwiseUnaryCompositeOpParams ClampScalarOpParams=1:ClampScalarOpParams ClampTensorOpParams=2:ClampTensorOpParams
enum EltwiseUnaryCompositeOpType u32 Cbrt=0 ClampScalar=1 ClampTensor=2 Log1p=3
table EltwiseUnaryOp type@0:EltwiseUnaryOpType in@1:TensorRef memory_config@2:MemoryConfig out@3:TensorRef params@5:EltwiseUnaryOpParams
union EltwiseUnaryOpParams EltwiseOpWithFloatParams=1:EltwiseOpWithFloatParams
enum EltwiseUnaryOpType u32 Abs=0 Ceil=1 Cos=2 Floor=3 Gelu=4 IsFinite=5 LogicalNot=6 Neg=7 Relu=8 Sqrt=9 Rsqrt=10 Sigmoid=11 Sin=12 Reciprocal=13 Sign=14 Tan=15 Tanh=16 Atan=17 Exp=18 Erf=19 Erfc=20 Log=21 Expm1=22 LeakyRelu=23 BitwiseNot=24 Relu6=25 Silu=26 Hardsigmoid=27 Mish=28 Acos=29 Asin=30 Asinh=31
table EmbeddingBackwardOp input@0:TensorRef weight@1:TensorRef in_grad@2:TensorRef dtype@3:DataType? memcfg@4:MemoryConfig out@5:TensorRef
table EmbeddingOp input@0:TensorRef weight@1:TensorRef out@2:TensorRef
table EmptyOp device@0:DeviceRef shape@1:[i64] dtype@2:DataType layout@3:TensorLayout memcfg@4:MemoryConfig out@5:TensorRef
table EndTraceCaptureOp device@0:DeviceRef trace_id@1:TensorRef cq_id@2:u32
table ExecuteTraceOp device@0:DeviceRef trace_id@1:TensorRef cq_id@2:u32 blocking@3:bool
table ExperimentalEltwiseBinaryBackwardOp type@0:ExperimentalEltwiseBinaryBackwardOpType grad@1:TensorRef input@2:TensorRef approximate@3:text output_dtype@4:DataType? memory_config@5:MemoryConfig out@6:TensorRef
enum ExperimentalEltwiseBinaryBackwardOpType u32 GeluBW=0
table FabricConnectionConfig noc_index@0:NocIndex topology@1:Topology cluster_axis@2:u32 routing_mode@3:RoutingMode num_links@4:u32
table FillCacheOp cache@0:TensorRef input@1:TensorRef batch_offset@2:u32
table FlashMlaPrefillOp query@0:TensorRef key@1:TensorRef value@2:TensorRef attention_mask@3:TensorRef head_dim_v@4:u32 is_causal@5:bool scale@6:f32? out@7:TensorRef memcfg@8:MemoryConfig
table FloatingPointType value@0:f32
table FromDeviceOp in@0:TensorRef out@1:TensorRef
table FullOp device@0:DeviceRef shape@1:[i64] fill_value@3:NumberType dtype@4:DataType? layout@5:TensorLayout? memcfg@6:MemoryConfig out@7:TensorRef
table FuncCallOp program_id@0:u32 inputs@1:[TensorRef] outputs@2:[TensorRef] semaphore_inputs@3:[GlobalSemaphoreRef]
table GatherOp input@0:TensorRef index@1:TensorRef out@2:TensorRef dim@3:i32 memory_config@4:MemoryConfig
table GenericOp io_tensors@0:[TensorRef] additional_args@2:[ArgRef] program@4:ProgramType
table GetDeviceOp mesh@0:Dim2d offset@1:Dim2d chip_ids@2:[u32] out@3:DeviceRef
table GlobalAvgPool2dOp in@0:TensorRef out@1:TensorRef memory_config@2:MemoryConfig dtype@3:DataType?
table GlobalSemaphoreRef global_id@0:u32
table GoldenDeviceTensor device@0:u32 value@1:GoldenTensor
table GoldenInfo golden_map@0:[GoldenKV]
table GoldenKV key@0:text value@1:[GoldenDeviceTensor]
table GoldenTensor name@0:text shape@1:[i64] stride@2:[i64] dtype@3:DataType data@4:[u8]
table GroupNormOp input@0:TensorRef input_mask@1:TensorRef weight@2:TensorRef bias@3:TensorRef num_groups@4:i64 epsilon@5:f32 memory_config@6:MemoryConfig out@7:TensorRef
table IndexerScoreDsaOp query@0:TensorRef key@1:TensorRef weights@2:TensorRef chunk_start_idx@3:u32 out@4:TensorRef cluster_axis@5:u32?
table IntegralType value@0:i32
table KernelArg arg@1:KernelArgType
table KernelArgBufferAddress address@0:u32
table KernelArgBufferAddressOfTensor operand_index@0:u32
table KernelArgCBBufferIndex buffer_index@0:u32
table KernelArgGlobalSemaphore operand_index@0:u32
table KernelArgNamedArgument name@0:text value@1:u32
table KernelArgScalar operand_index@0:u32
table KernelArgSemaphoreAt semaphore_index@0:u32
table KernelArgTensorAccessorArgs operand_index@0:u32
union KernelArgType KernelArgCBBufferIndex=1:KernelArgCBBufferIndex KernelArgBufferAddress=2:KernelArgBufferAddress KernelArgBufferAddressOfTensor=3:KernelArgBufferAddressOfTensor KernelArgSemaphoreAt=4:KernelArgSemaphoreAt KernelArgNamedArgument=5:KernelArgNamedArgument KernelArgGlobalSemaphore=6:KernelArgGlobalSemaphore KernelArgScalar=7:KernelArgScalar KernelArgTensorAccessorArgs=8:KernelArgTensorAccessorArgs
table KernelCBDescriptor total_size@0:u32 core_range@1:CoreRangeSet formats@2:[KernelCBFormat] buffer@3:KernelGlobalCBIndexOfTensor
table KernelCBFormat buffer_index@0:u32 dtype@1:DataType page_size@2:u32
union KernelConfig ComputeKernelConfig=1:ComputeKernelConfig DataMovementKernelConfig=2:DataMovementKernelConfig ReaderKernelConfig=3:ReaderKernelConfig WriterKernelConfig=4:WriterKernelConfig
table KernelCoreArgs args@0:[KernelArg]
table KernelDescriptor source@0:text source_type@1:SourceType=1 config@3:KernelConfig core_ranges@4:CoreRangeSet ct_args@5:KernelCoreArgs rt_args@6:[CoreRuntimeArgs] common_rt_args@7:KernelCoreArgs
table KernelGlobalCBIndexOfTensor tensor_operand_index@0:u32
table LayerNormOp input@0:TensorRef weight@1:TensorRef bias@2:TensorRef epsilon@3:f32 memory_config@4:MemoryConfig out@5:TensorRef
table LayerNormPostAllGatherOp input@0:TensorRef stats@1:TensorRef weight@2:TensorRef bias@3:TensorRef epsilon@4:f32=1e-12 dtype@5:DataType? memory_config@6:MemoryConfig compute_config@7:DeviceComputeKernelConfig program_config@8:LayerNormShardedMultiCoreProgramConfig out@9:TensorRef
table LayerNormPreAllGatherOp input@0:TensorRef residual_input@1:TensorRef recip@2:TensorRef dtype@3:DataType=2 memory_config@4:MemoryConfig compute_config@5:DeviceComputeKernelConfig program_config@6:LayerNormShardedMultiCoreProgramConfig out@7:TensorRef
table LayerNormShardedMultiCoreProgramConfig compute_with_storage_grid_size@0:CoreCoord subblock_w@1:u64 block_h@2:u64 block_w@3:u64 inplace@4:bool
table LayoutDesc oob_val@0:OOBVal memory_desc@1:MemoryDesc
table LinearOp a@0:TensorRef b@1:TensorRef bias@2:TensorRef out@3:TensorRef transpose_a@4:bool transpose_b@5:bool matmul_program_config@7:MatmulProgramConfig activation@8:text compute_config@9:DeviceComputeKernelConfig
table LoadCachedOp inputs@0:[TensorRef] callee_name@1:text program_idx@2:u32 outputs@3:[TensorRef] program_hash@4:text
table LoadTensorOp file_path@0:text device@1:DeviceRef out@2:TensorRef
table MLIR name@0:text source@1:text
enum MathFidelity u8 LoFi=0 HiFi2=2 HiFi3=3 HiFi4=4
table MatmulMultiCoreReuseMultiCast1DProgramConfig compute_with_storage_grid_size@0:CoreCoord in0_block_w@1:u64 out_subblock_h@2:u64 out_subblock_w@3:u64 out_block_h@4:u64 out_block_w@5:u64 per_core_m@6:u64 per_core_n@7:u64 fuse_batch@8:bool fused_activation@9:UnaryWithParam mcast_in0@10:bool gather_in0@11:bool hop_cores@12:CoreRangeSet num_global_cb_receivers@13:u64 untilize_out@14:bool
table MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig in0_block_w@0:u64 per_core_m@1:u64 per_core_n@2:u64 fused_activation@3:UnaryWithParam
table MatmulMultiCoreReuseMultiCastProgramConfig compute_with_storage_grid_size@0:CoreCoord in0_block_w@1:u64 out_subblock_h@2:u64 out_subblock_w@3:u64 out_block_h@4:u64 out_block_w@5:u64 per_core_m@6:u64 per_core_n@7:u64 transpose_mcast@8:bool fused_activation@9:UnaryWithParam fuse_batch@10:bool
table MatmulMultiCoreReuseProgramConfig compute_with_storage_grid_size@0:CoreCoord in0_block_w@1:u64 out_subblock_h@2:u64 out_subblock_w@3:u64 per_core_m@4:u64 per_core_n@5:u64
table MatmulOp a@0:TensorRef b@1:TensorRef out@2:TensorRef transpose_a@3:bool transpose_b@4:bool matmul_program_config@6:MatmulProgramConfig activation@7:text compute_config@8:DeviceComputeKernelConfig
union MatmulProgramConfig MatmulMultiCoreReuseProgramConfig=1:MatmulMultiCoreReuseProgramConfig MatmulMultiCoreReuseMultiCastProgramConfig=2:MatmulMultiCoreReuseMultiCastProgramConfig MatmulMultiCoreReuseMultiCast1DProgramConfig=3:MatmulMultiCoreReuseMultiCast1DProgramConfig MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig=4:MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig
table MaxPool2dExtraParams
table MaxPool2dWithIndicesOp in@0:TensorRef result@1:TensorRef result_indices@2:TensorRef batch_size@3:u32 input_height@4:u32 input_width@5:u32 channels@6:u32 kernel_size@7:[i32] stride@8:[i32] padding@9:[i32] dilation@10:[i32] memory_config@11:MemoryConfig applied_shard_scheme@12:TensorMemoryLayout? ceil_mode@13:bool reallocate_halo_output@14:bool=1 config_tensors_in_dram@15:bool
table MemoryConfig tensor_memory_layout@0:TensorMemoryLayout buffer_type@1:BufferType shard_spec@2:ShardSpec nd_shard_spec@3:NDShardSpec
table MemoryDesc storage_type@0:StorageType tile_shape@1:Dim2d data_type@2:DataType memory_config@3:MemoryConfig
table MemorySnapshotOp operand@0:TensorRef file_path@1:text
table MeshComposerConfig dims@0:[i32] mesh_shape_override@1:[u32]
table MeshCoord coords@0:[u32]
table MeshCoordRange start@0:MeshCoord end@1:MeshCoord
table MeshMapperConfig placements@0:[Placement] mesh_shape_override@1:[u32]
table MeshPartitionOp in@0:TensorRef out@1:TensorRef dim@2:i32 cluster_axis@3:u32? memory_config@4:MemoryConfig
table MeshProgram device_range@0:MeshCoordRange program@1:ProgramDescriptor
table MeshProgramDescriptor mesh_programs@0:[MeshProgram] fabric_connection_config@1:FabricConnectionConfig
enum MoEActivationFunction u16 Silu=0 SwiGLU=1
table MoeComputeOp tilize_input_tensor@0:TensorRef tilize_expert_indices_tensor@1:TensorRef tilize_expert_scores_tensor@2:TensorRef tilize_expert_mapping_tensor@3:TensorRef matmul_w0_w1_tensor@4:TensorRef matmul_w2_tensor@5:TensorRef optional_output_tensor@6:TensorRef cross_device_semaphore@7:GlobalSemaphoreRef device@8:DeviceRef layer_id@9:u32 output_height_shard_dim@10:u32 intermediate_size@11:u32 has_bias@12:bool cluster_axis@13:u32? activation_function@14:MoEActivationFunction num_links@15:u32? topology@16:Topology? mux_core_range_set@17:CoreRangeSet combine_output@18:TensorRef
table MoeExpertTokenRemapOp topk_tensor@0:TensorRef expert_mapping@1:TensorRef expert_metadata@2:TensorRef mapping@3:TensorRef reduced@4:TensorRef reduction_size@5:u32 memory_config@6:MemoryConfig
table MoeGptOp input_tensor@0:TensorRef expert_indices@1:TensorRef expert_scores@2:TensorRef expert_mapping@3:TensorRef w0_w1_tensor@4:TensorRef w2_tensor@5:TensorRef output_height_shard_dim@6:u32=4 output_width_shard_dim@7:u32=3 hidden_size@8:u32=2880 cluster_axis@9:u32? token_counts@10:TensorRef activation_records@11:TensorRef token_indices@12:TensorRef tilize_out@13:TensorRef tilize_out_rm@14:TensorRef
table NDShardSpec core_range_set@0:CoreRangeSet shape@1:[i32] orientation@2:ShardOrientation distribution_strategy@3:ShardDistributionStrategy
table NLPConcatHeadsDecodeOp in@0:TensorRef out@1:TensorRef num_heads@2:u32 memcfg@3:MemoryConfig
table NLPConcatHeadsOp in@0:TensorRef out@1:TensorRef memcfg@2:MemoryConfig
table NLPCreateQKVHeadsDecodeOp input@0:TensorRef q_out@1:TensorRef k_out@2:TensorRef v_out@3:TensorRef num_heads@4:u32 num_kv_heads@5:u32? overlap_qk_coregrid@6:bool? batch_offset@7:TensorRef slice_size@8:u32? memcfg@9:MemoryConfig
table NamedFullOp type@0:NamedFullOpType device@1:DeviceRef shape@2:[i64] dtype@3:DataType? layout@4:TensorLayout? memcfg@5:MemoryConfig out@6:TensorRef
enum NamedFullOpType u32 Zeros=0 Ones=1
enum NocIndex u16 Noc0=0 Noc1=1
enum NocMode u8 DM_DEDICATED_NOC=0 DM_DYNAMIC_NOC=1
table NonUniformScale2D scale@0:[i32]
union NumberType FP=1:FloatingPointType I32=2:IntegralType
enum OOBVal u16 Undef=0 Zero=1 One=2 Inf=3 NegInf=4
union OpType AdamWOp=1:AdamWOp AggregateTensorOp=2:AggregateTensorOp AllGatherOp=3:AllGatherOp AllReduceAsyncOp=4:AllReduceAsyncOp AllReduceOp=5:AllReduceOp AllToAllCombineOp=6:AllToAllCombineOp AllToAllDispatchMetadataOp=7:AllToAllDispatchMetadataOp AllToAllDispatchOp=8:AllToAllDispatchOp ArangeOp=9:ArangeOp AssignOp=10:AssignOp BatchNormInferenceOp=11:BatchNormInferenceOp BatchNormTrainingOp=12:BatchNormTrainingOp BitcastConvertOp=13:BitcastConvertOp BeginTraceCaptureOp=14:BeginTraceCaptureOp CaptureOrExecuteTraceOp=15:CaptureOrExecuteTraceOp ChunkedScaledDotProductAttentionOp=16:ChunkedScaledDotProductAttentionOp ConcatOp=17:ConcatOp ConcatenateHeadsOp=18:ConcatenateHeadsOp RotaryEmbeddingLlamaOp=19:RotaryEmbeddingLlamaOp RotaryEmbeddingOp=20:RotaryEmbeddingOp NLPCreateQKVHeadsDecodeOp=21:NLPCreateQKVHeadsDecodeOp NLPConcatHeadsOp=22:NLPConcatHeadsOp ConstantOp=23:ConstantOp Conv1dOp=24:Conv1dOp Conv2dOp=25:Conv2dOp ConvTranspose2dOp=26:ConvTranspose2dOp Conv3dOp=27:Conv3dOp CpuOp=28:CpuOp DeallocateOp=29:DeallocateOp DistributeTensorOp=30:DistributeTensorOp DistributedRMSNormOp=31:DistributedRMSNormOp DropoutOp=32:DropoutOp EltwiseBinaryCompositeOp=33:EltwiseBinaryCompositeOp EltwiseBinaryCompositeScalarOp=34:EltwiseBinaryCompositeScalarOp EltwiseBinaryOp=35:EltwiseBinaryOp EltwiseQuantizationOp=36:EltwiseQuantizationOp EltwiseTernaryWhereOp=37:EltwiseTernaryWhereOp EltwiseUnaryCompositeOp=38:EltwiseUnaryCompositeOp EltwiseUnaryOp=39:EltwiseUnaryOp EmbeddingBackwardOp=40:EmbeddingBackwardOp EmbeddingOp=41:EmbeddingOp EmptyOp=42:EmptyOp EndTraceCaptureOp=43:EndTraceCaptureOp ExecuteTraceOp=44:ExecuteTraceOp ExperimentalEltwiseBinaryBackwardOp=45:ExperimentalEltwiseBinaryBackwardOp FillCacheOp=46:FillCacheOp FromDeviceOp=47:FromDeviceOp FullOp=48:FullOp FuncCallOp=49:FuncCallOp GatherOp=50:GatherOp GenericOp=51:GenericOp GetDeviceOp=52:GetDeviceOp GlobalAvgPool2dOp=53:GlobalAvgPool2dOp GroupNormOp=54:GroupNormOp IndexerScoreDsaOp=55:IndexerScoreDsaOp LayerNormOp=56:LayerNormOp LayerNormPreAllGatherOp=57:LayerNormPreAllGatherOp LayerNormPostAllGatherOp=58:LayerNormPostAllGatherOp LinearOp=59:LinearOp LoadCachedOp=60:LoadCachedOp MatmulOp=61:MatmulOp SparseMatmulOp=62:SparseMatmulOp MaxPool2dWithIndicesOp=63:MaxPool2dWithIndicesOp MeshPartitionOp=64:MeshPartitionOp MoeExpertTokenRemapOp=65:MoeExpertTokenRemapOp MoeGptOp=66:MoeGptOp PrepareMoEComputeW0W1WeightsOp=67:PrepareMoEComputeW0W1WeightsOp PrepareMoEComputeW2WeightsOp=68:PrepareMoEComputeW2WeightsOp MoeComputeOp=69:MoeComputeOp CumSumOp=70:CumSumOp CumProdOp=71:CumProdOp NamedFullOp=72:NamedFullOp NLPConcatHeadsDecodeOp=73:NLPConcatHeadsDecodeOp PadOp=74:PadOp PagedFillCacheOp=75:PagedFillCacheOp PagedFlashMultiLatentAttentionDecodeOp=76:PagedFlashMultiLatentAttentionDecodeOp PagedScaledDotProductAttentionDecodeOp=77:PagedScaledDotProductAttentionDecodeOp PagedUpdateCacheOp=78:PagedUpdateCacheOp PermuteOp=79:PermuteOp PointToPointOp=80:PointToPointOp Pool2dOp=81:Pool2dOp PrepareConv2dBiasOp=82:PrepareConv2dBiasOp PrepareConv2dWeightsOp=83:PrepareConv2dWeightsOp PrepareConv3dWeightsOp=84:PrepareConv3dWeightsOp PrepareConvTranspose2dBiasOp=85:PrepareConvTranspose2dBiasOp PrepareConvTranspose2dWeightsOp=86:PrepareConvTranspose2dWeightsOp RandOp=87:RandOp ReductionArgMaxOp=88:ReductionArgMaxOp ReductionOp=89:ReductionOp ReductionProdOp=90:ReductionProdOp ReduceScatterOp=91:ReduceScatterOp RepeatInterleaveOp=92:RepeatInterleaveOp RepeatOp=93:RepeatOp RMSNormPreAllGatherOp=94:RMSNormPreAllGatherOp RMSNormOp=95:RMSNormOp ReshapeOp=96:ReshapeOp SamplingOp=97:SamplingOp ScaledDotProductAttentionOp=98:ScaledDotProductAttentionOp ScaledDotProductAttentionDecodeOp=99:ScaledDotProductAttentionDecodeOp FlashMlaPrefillOp=100:FlashMlaPrefillOp ScatterOp=101:ScatterOp SDPAForwardOp=102:SDPAForwardOp SDPABackwardOp=103:SDPABackwardOp SelectiveReduceCombineOp=104:SelectiveReduceCombineOp SliceOp=105:SliceOp SoftmaxOp=106:SoftmaxOp SortOp=107:SortOp SplitQueryKeyValueAndSplitHeadsOp=108:SplitQueryKeyValueAndSplitHeadsOp ToDeviceOp=109:ToDeviceOp ToLayoutOp=110:ToLayoutOp ToMemoryConfigOp=111:ToMemoryConfigOp TransposeOp=112:TransposeOp TypecastOp=113:TypecastOp UpdateCacheOp=114:UpdateCacheOp UpsampleOp=115:UpsampleOp WriteTensorOp=116:WriteTensorOp DumpTensorOp=117:DumpTensorOp LoadTensorOp=118:LoadTensorOp AnnotateOp=119:AnnotateOp BreakpointOp=120:BreakpointOp PrintOp=121:PrintOp MemorySnapshotOp=122:MemorySnapshotOp RegionStartOp=123:RegionStartOp RegionEndOp=124:RegionEndOp TopKOp=125:TopKOp TopKRouterGptOp=126:TopKRouterGptOp CreateGlobalSemaphoreOp=127:CreateGlobalSemaphoreOp ResetGlobalSemaphoreOp=128:ResetGlobalSemaphoreOp AllocateMoeComputeSemaphoreOp=129:AllocateMoeComputeSemaphoreOp CopyOp=130:CopyOp
table Operation type@1:OpType debug_info@2:text loc_info@3:text
table PadOp in@0:TensorRef out@1:TensorRef padding@2:[u32] value@3:f32 use_multicore@4:bool memcfg@5:MemoryConfig
table PagedFillCacheOp cache@0:TensorRef input@1:TensorRef page_table@2:TensorRef batch_idx_tensor@3:TensorRef
table PagedFlashMultiLatentAttentionDecodeOp query@0:TensorRef key@1:TensorRef value@2:TensorRef head_dim_v@3:u32 page_table@4:TensorRef is_causal@5:bool attention_mask@6:TensorRef cur_pos_tensor@7:TensorRef attention_sink@8:TensorRef scale@9:f32? out@10:TensorRef memcfg@11:MemoryConfig
table PagedScaledDotProductAttentionDecodeOp query@0:TensorRef key@1:TensorRef value@2:TensorRef page_table@3:TensorRef is_causal@4:bool attention_mask@5:TensorRef cur_pos_tensor@6:TensorRef attention_sink@7:TensorRef scale@8:f32? sliding_window_size@9:u32? out@10:TensorRef memcfg@11:MemoryConfig program_config@12:SDPAConfig
table PagedUpdateCacheOp cache@0:TensorRef input@1:TensorRef update_index@2:TensorRef share_cache@3:bool page_table@4:TensorRef
table PerAxisScale scale@0:TensorRef
table PerAxisZeroPoint zero_point@0:TensorRef
table PerTensorScale scale@0:f32
table PerTensorZeroPoint zero_point@0:i32
table PermuteOp in@0:TensorRef permutation@1:[i64] memory_config@2:MemoryConfig pad_value@3:f32 out@4:TensorRef
struct Placement 8 type@0:PlacementType dim@4:i32
enum PlacementType u16 Replicate=0 Shard=1
table PointToPointOp in@0:TensorRef out@1:TensorRef sender_coord@2:[u32] receiver_coord@3:[u32] optional_output_tensor@4:TensorRef
union Pool2dExtraParams AvgPool2dExtraParams=1:AvgPool2dExtraParams MaxPool2dExtraParams=2:MaxPool2dExtraParams
table Pool2dOp type@0:Pool2dOpType in@1:TensorRef out@2:TensorRef batch_size@3:u32 input_height@4:u32 input_width@5:u32 channels@6:u32 kernel_size@7:[i32] stride@8:[i32] padding@9:[i32] dilation@10:[i32] extra_params@12:Pool2dExtraParams memory_config@13:MemoryConfig applied_shard_scheme@14:TensorMemoryLayout? ceil_mode@15:bool reallocate_halo_output@16:bool=1 config_tensors_in_dram@17:bool
enum Pool2dOpType u32 AvgPool2d=0 MaxPool2d=1
table PrepareConv2dBiasOp bias_tensor@0:TensorRef out@1:TensorRef input_memory_config@2:MemoryConfig input_tensor_layout@3:TensorLayout in_channels@4:u32 out_channels@5:u32 batch_size@6:u32 input_height@7:u32 input_width@8:u32 kernel_size@9:[i32] stride@10:[i32] padding@11:[i32] dilation@12:[i32] groups@13:u32 device@14:DeviceRef input_dtype@15:DataType output_dtype@16:DataType? conv2d_config@17:Conv2dConfig compute_config@18:DeviceComputeKernelConfig conv2d_slice_config@19:Conv2dSliceConfig
table PrepareConv2dWeightsOp weight_tensor@0:TensorRef out@1:TensorRef input_memory_config@2:MemoryConfig input_tensor_layout@3:TensorLayout weights_format@4:text in_channels@5:u32 out_channels@6:u32 batch_size@7:u32 input_height@8:u32 input_width@9:u32 kernel_size@10:[i32] stride@11:[i32] padding@12:[i32] dilation@13:[i32] has_bias@14:bool groups@15:u32 device@16:DeviceRef input_dtype@17:DataType output_dtype@18:DataType? conv2d_config@19:Conv2dConfig compute_config@20:DeviceComputeKernelConfig conv2d_slice_config@21:Conv2dSliceConfig
table PrepareConv3dWeightsOp weight_tensor@0:TensorRef out@1:TensorRef groups@2:u32 c_in_block@3:u32 alignment@4:u32 device@5:DeviceRef
table PrepareConvTranspose2dBiasOp bias_tensor@0:TensorRef out@1:TensorRef input_memory_config@2:MemoryConfig input_tensor_layout@3:TensorLayout in_channels@4:u32 out_channels@5:u32 batch_size@6:u32 input_height@7:u32 input_width@8:u32 kernel_size@9:[i32] stride@10:[i32] padding@11:[i32] dilation@12:[i32] groups@13:u32 device@14:DeviceRef input_dtype@15:DataType output_dtype@16:DataType? conv2d_config@17:Conv2dConfig compute_config@18:DeviceComputeKernelConfig conv2d_slice_config@19:Conv2dSliceConfig
table PrepareConvTranspose2dWeightsOp weight_tensor@0:TensorRef out@1:TensorRef input_memory_config@2:MemoryConfig input_tensor_layout@3:TensorLayout weights_format@4:text in_channels@5:u32 out_channels@6:u32 batch_size@7:u32 input_height@8:u32 input_width@9:u32 kernel_size@10:[i32] stride@11:[i32] padding@12:[i32] output_padding@13:[i32] dilation@14:[i32] has_bias@15:bool groups@16:u32 device@17:DeviceRef input_dtype@18:DataType output_dtype@19:DataType? conv2d_config@20:Conv2dConfig compute_config@21:DeviceComputeKernelConfig conv2d_slice_config@22:Conv2dSliceConfig mirror_kernel@23:bool=1
table PrepareMoEComputeW0W1WeightsOp w0@0:TensorRef w1@1:TensorRef bias_0@2:TensorRef bias_1@3:TensorRef device@4:DeviceRef hidden_size@5:u32 intermediate_size@6:u32 out@7:TensorRef
table PrepareMoEComputeW2WeightsOp w2@0:TensorRef bias_2@1:TensorRef device@2:DeviceRef hidden_size@3:u32 intermediate_size@4:u32 out@5:TensorRef
table PrintOp operand@0:TensorRef message@1:text
table Program name@0:text inputs@1:[TensorRef] outputs@2:[TensorRef] operations@3:[Operation] dylibs@4:[DynamicLib] debug_info@5:DebugInfo private@6:bool mesh_shape@7:Dim2d semaphore_inputs@8:[GlobalSemaphoreRef]
table ProgramDescriptor kernels@0:[KernelDescriptor] semaphores@1:[SemaphoreDescriptor] cbs@2:[KernelCBDescriptor]
union ProgramType ProgramDescriptor=1:ProgramDescriptor MeshProgramDescriptor=2:MeshProgramDescriptor
union QuantizationScale PerTensorScale=1:PerTensorScale PerAxisScale=2:PerAxisScale
union QuantizationZeroPoint PerTensorZeroPoint=1:PerTensorZeroPoint PerAxisZeroPoint=2:PerAxisZeroPoint
table QuantizeDequantizeOpParams scale@1:QuantizationScale zero_point@3:QuantizationZeroPoint
table RMSNormOp input@0:TensorRef weight@1:TensorRef bias@2:TensorRef epsilon@3:f32 memory_config@4:MemoryConfig out@5:TensorRef compute_config@6:DeviceComputeKernelConfig
table RMSNormPreAllGatherOp input@0:TensorRef dtype@1:DataType residual@2:TensorRef memory_config@3:MemoryConfig compute_config@4:DeviceComputeKernelConfig program_config@5:LayerNormShardedMultiCoreProgramConfig use_2d_core_grid@6:bool out@7:TensorRef
table RandOp device@0:DeviceRef size@1:[i64] low@2:f32 high@3:f32 seed@4:u32 dtype@5:DataType layout@6:TensorLayout memcfg@7:MemoryConfig out@8:TensorRef
table ReaderKernelConfig
table ReduceScatterOp in@0:TensorRef out@1:TensorRef scatter_dim@2:i32 reduce_type@3:u32 cluster_axis@4:u32 sub_device_id@5:u8? memory_config@6:MemoryConfig num_links@7:u32? topology@8:Topology? compute_config@9:DeviceComputeKernelConfig
table ReductionArgMaxOp in@0:TensorRef out@1:TensorRef dim@2:i32? keep_dim@3:bool memcfg@4:MemoryConfig
table ReductionOp type@0:ReductionOpType in@1:TensorRef out@2:TensorRef dim_arg@3:[i32] keep_dim@4:bool compute_config@5:DeviceComputeKernelConfig
enum ReductionOpType u32 Sum=0 Mean=1 Max=2 Min=3
table ReductionProdOp in@0:TensorRef out@1:TensorRef dim_arg@2:i64? keep_dim@3:bool memcfg@4:MemoryConfig
table RegionEndOp operand@0:TensorRef result@1:TensorRef region_id@2:text
table RegionStartOp operand@0:TensorRef result@1:TensorRef region_id@2:text
table RepeatInterleaveOp input@0:TensorRef out@1:TensorRef repeats@2:u32 dim@3:i32 memory_config@4:MemoryConfig
table RepeatOp in@0:TensorRef out@1:TensorRef repeat_dims@2:[i64] memcfg@3:MemoryConfig
table RequantizeOpParams in_scale@1:QuantizationScale in_zero_point@3:QuantizationZeroPoint out_scale@5:QuantizationScale out_zero_point@7:QuantizationZeroPoint
table ResetGlobalSemaphoreOp semaphore@0:GlobalSemaphoreRef value@1:u32
table ReshapeOp in@0:TensorRef out@1:TensorRef shape@2:[i32] memory_config@3:MemoryConfig
table RotaryEmbeddingLlamaOp input@0:TensorRef cos_cache@1:TensorRef sin_cache@2:TensorRef trans_mat@3:TensorRef is_decode_mode@4:bool out@5:TensorRef memcfg@6:MemoryConfig compute_config@7:DeviceComputeKernelConfig
table RotaryEmbeddingOp input@0:TensorRef cos_cache@1:TensorRef sin_cache@2:TensorRef token_index@3:u32? out@4:TensorRef memcfg@5:MemoryConfig compute_config@6:DeviceComputeKernelConfig
enum RoutingMode u16 BidirLineMesh=0 UnidirRingTorus=1
table SDPABackwardOp grad_output@0:TensorRef attn_output@1:TensorRef query@2:TensorRef key@3:TensorRef value@4:TensorRef intermediates@5:TensorRef attention_mask@6:TensorRef mask_type@7:u32 dropout_probability@8:f32 grad_query@9:TensorRef grad_key@10:TensorRef grad_value@11:TensorRef
table SDPAConfig compute_with_storage_grid_size@0:CoreCoord sub_core_grids@1:CoreRangeSet q_chunk_size@2:u64 k_chunk_size@3:u64 exp_approx_mode@4:bool? max_cores_per_head_batch@5:u32?
table SDPAForwardOp query@0:TensorRef key@1:TensorRef value@2:TensorRef attention_mask@3:TensorRef mask_type@4:u32 dropout_probability@5:f32 return_intermediates@6:bool out@7:TensorRef intermediates@8:TensorRef
table SamplingOp input_values@0:TensorRef input_indices@1:TensorRef k@2:TensorRef p@3:TensorRef temp@4:TensorRef seed@5:u32? out@6:TensorRef
union Scale2D UniformScale2D=1:UniformScale2D NonUniformScale2D=2:NonUniformScale2D
table ScaledDotProductAttentionDecodeOp query@0:TensorRef key@1:TensorRef value@2:TensorRef is_causal@3:bool attention_mask@4:TensorRef cur_pos_tensor@5:TensorRef attention_sink@6:TensorRef scale@7:f32? sliding_window_size@8:u32? out@9:TensorRef memcfg@10:MemoryConfig program_config@11:SDPAConfig
table ScaledDotProductAttentionOp query@0:TensorRef key@1:TensorRef value@2:TensorRef is_causal@3:bool attention_mask@4:TensorRef scale@5:f32? sliding_window_size@6:u32? attention_sink@7:TensorRef out@8:TensorRef memcfg@9:MemoryConfig
table ScatterOp input@0:TensorRef out@1:TensorRef index@2:TensorRef source@3:TensorRef dim@4:i32 memory_config@5:MemoryConfig scatter_reduce_type@6:ScatterReduceType
enum ScatterReduceType u8 Sum=0 Max=2 Min=3 Prod=6 Invalid=7
table SelectiveReduceCombineOp dense_input_tensor@0:TensorRef dense_activations_tensor@1:TensorRef dense_token_maps_tensor@2:TensorRef dense_token_counts_tensor@3:TensorRef out@4:TensorRef hidden_size@5:u32 batch_size@6:u32 seq_size@7:u32 select_experts_k@8:u32 experts@9:u32
table SemaphoreDescriptor id@0:u32 core_type@1:CoreType core_ranges@2:CoreRangeSet initial_value@3:u32
enum ShardDistributionStrategy u32 RoundRobin1D=0 Grid2D=1
enum ShardOrientation u32 RowMajor=0 ColMajor=1
table ShardSpec core_range_set@0:CoreRangeSet shape@1:[i32] orientation@2:ShardOrientation
enum ShardStatus u32 Presharded=0 Unsharded=1
table SliceDynamicOpParams begins@0:TensorRef ends@1:TensorRef
table SliceOp type@0:SliceOpType in@1:TensorRef out@2:TensorRef step@3:[i64] params@5:SliceOpParams
union SliceOpParams SliceStaticOpParams=1:SliceStaticOpParams SliceDynamicOpParams=2:SliceDynamicOpParams
enum SliceOpType u32 SliceStaticOp=0 SliceDynamicOp=1
table SliceStaticOpParams begins@0:[i64] ends@1:[i64]
table SoftmaxOp in@0:TensorRef out@1:TensorRef dimension@2:i32 numeric_stable@3:bool compute_config@4:DeviceComputeKernelConfig
table SortOp in@0:TensorRef dim@1:i8 descending@2:bool stable@3:bool memcfg@4:MemoryConfig outputs@5:[TensorRef]
enum SourceType u8 FILE_PATH=0 SOURCE_CODE=1
table SparseMatmulOp a@0:TensorRef b@1:TensorRef sparsity@2:TensorRef out@3:TensorRef is_input_a_sparse@4:bool is_input_b_sparse@5:bool nnz@6:i64? program_config@7:MatmulMultiCoreReuseMultiCast1DProgramConfig memory_config@8:MemoryConfig dtype@9:DataType compute_config@10:DeviceComputeKernelConfig
table SplitQueryKeyValueAndSplitHeadsOp in@0:TensorRef kv_input@1:TensorRef q_out@2:TensorRef k_out@3:TensorRef v_out@4:TensorRef num_heads@5:u32 num_kv_heads@6:u32? transpose_key@7:bool memcfg@8:MemoryConfig
enum StorageType u16 Host=0 Device=1
table TTNNBinary version@0:Version schema_hash@1:text ttmlir_git_hash@2:text system_desc@3:SystemDesc mlir@4:MLIR programs@5:[Program]
table TensorDesc shape@0:[i32] mesh_shape@1:[i32] layout@2:LayoutDesc shard_status@3:ShardStatus local_shape@4:[i32]
enum TensorLayout u16 RowMajor=0 Tile=1 Invalid=2
enum TensorMemoryLayout u16 Interleaved=0 HeightSharded=1 WidthSharded=2 BlockSharded=3 NDSharded=4
table TensorRef global_id@0:u32 desc@1:TensorDesc
table ToDeviceOp in@0:TensorRef device@1:DeviceRef memcfg@2:MemoryConfig out@3:TensorRef
table ToLayoutOp in@0:TensorRef layout@1:TensorLayout dtype@2:DataType? memcfg@3:MemoryConfig out@4:TensorRef
table ToMemoryConfigOp in0@0:TensorRef memcfg@1:MemoryConfig out@2:TensorRef
table TopKOp input_tensor@0:TensorRef k@1:i32 dim@2:i32=-1 largest@3:bool=1 sorted@4:bool=1 memcfg@5:MemoryConfig outputs@6:[TensorRef]
table TopKRouterGptOp input@0:TensorRef weight@1:TensorRef bias@2:TensorRef k@3:i32 num_experts@4:i32 expert_indices@5:TensorRef expert_weights@6:TensorRef
enum Topology u16 Ring=0 Linear=1 Mesh=2 Torus=3
table TransposeOp in@0:TensorRef out@1:TensorRef dim0@2:i32 dim1@3:i32
table TypecastOp in@0:TensorRef dtype@1:DataType memcfg@2:MemoryConfig out@3:TensorRef
enum UnaryOpType u32 Exp=0 Recip=1 Gelu=2 Relu=3 Sqrt=4 Sigmoid=5 Log=6 Tanh=7 Log2=8 Log10=9 Sin=10 Cos=11 Abs=12 AbsInt32=13 Sign=14 Square=15 Eqz=16 Nez=17 Gtz=18 Ltz=19 Gez=20 Lez=21 ReluMax=22 ReluMin=23 Power=24 LeakyRelu=25 Elu=26 Exp2=27 Heaviside=28 Expm1=29 Signbit=30 Asin=31 Acos=32 Rsqrt=33 Relu6=34 Hardsigmoid=35 Atan=36 Erf=37 Erfc=38 Isinf=39 Isposinf=40 Isneginf=41 Isnan=42 LogicalNotUnary=43 Isfinite=44 Erfinv=45 I0=46 I1=47 Tan=48 Rsub=49 Rdiv=50 Silu=51 Softplus=52 Identity=53 Neg=54 AddUnarySfpu=55 SubUnarySfpu=56 MulUnarySfpu=57 DivUnarySfpu=58 IdentityUint32=59 UnaryNe=60 UnaryGt=61 UnaryLt=62 TiledProd=63 Typecast=64 BitwiseXor=65 BitwiseNot=66 BitwiseAnd=67 BitwiseOr=68 RightShift=69 Floor=70 Ceil=71 Round=72 LeftShift=73 Remainder=74 Fmod=75 Dropout=76 Fill=77 PreluSfpu=78 ZeroPoint=79
table UnaryWithParam op_type@0:UnaryOpType params@1:[f64]
table UniformScale2D scale@0:i32
enum UnpackToDestMode u8 Fp32=0 Default=1
table UpdateCacheOp cache@0:TensorRef input@1:TensorRef update_index@2:TensorRef batch_offset@3:u32
table UpsampleOp in@0:TensorRef scale_factor@2:Scale2D mode@3:text memory_config@4:MemoryConfig out@5:TensorRef
table WriteTensorOp host_tensor@0:TensorRef device_tensor@1:TensorRef blocking@2:bool cq_id@3:u32
table WriterKernelConfig
