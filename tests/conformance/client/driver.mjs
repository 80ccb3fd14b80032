// The conformance job with client/js/raw_session.mjs. See run.py for the job and its report.
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';
import {createInterface} from 'node:readline';
import {Session, loadApi} from './raw_session.mjs';

const [BIG, SMALL, KERNEL, PROGRAM] = [1, 2, 3, 4];
const [protoDir] = process.argv.slice(2);
const api = loadApi(protoDir);
const details = protoLoader.loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto'],
                                     {includeDirs: [protoDir], keepCase: true, longs: Number});

async function supply(session, value, payload) {
  const chunk = session.welcome.limits.chunk_bytes;
  for (let offset = 0; offset < payload.length; offset += chunk) {
    await session.send({data: [{queue: 1, value, offset, payload: payload.subarray(offset, offset + chunk)}]});
  }
}

async function job(session, cancel) {
  const pattern = Buffer.from(Array.from({length: 65536}, (_, index) => index % 256));
  const elf = pattern.subarray(0, 20480);
  const commands = [
    {allocate: {handle: BIG, size_bytes: 65536, page_bytes: 4096, dram: {}}},
    {allocate: {handle: SMALL, size_bytes: 4096, page_bytes: 1024, dram: {}}},
    {write: {buffer: BIG, size: 65536, streamed: true}},
    ...Array.from({length: 16}, (_, i) => ({write: {buffer: SMALL, offset: 64 * i, size: 64, inline: Buffer.alloc(64, i)}})),
  ];
  const writes = commands.length;
  commands.push(...Array.from({length: 24}, () => ({barrier: {}})));
  const load = commands.length + 1;
  commands.push({load_kernel: {handle: KERNEL, size: elf.length, streamed: true, name: 'conformance'}},
                {create_program: {handle: PROGRAM, kernels: [{kernel: KERNEL, processor: 'PROCESSOR_BRISC', cores: [{x1: 3}]}]}},
                ...Array.from({length: 8}, (_, i) => ({launch: {program: PROGRAM, arguments: [
                  {common: [0, i], buffers: [{buffer: BIG}]}]}})),
                {read: {buffer: BIG, size: 65536}});
  await session.send({open_queues: [{queue: 1}, {queue: 2, kind: 'QUEUE_KIND_TRANSFER'}]});
  for (let first = 0; first < commands.length; first += 8) {
    await session.send({batches: [{queue: 1, first_value: first + 1, commands: commands.slice(first, first + 8)}]});
    if (first < 3 && first + 8 >= 3) await supply(session, 3, pattern);
    if (first < load && first + 8 >= load) await supply(session, load, elf);
  }
  await session.send({batches: [{queue: 2, first_value: 1, waits: [{queue: 1, value: writes}],
                                 commands: [{read: {buffer: SMALL, size: 1024}}]}]});
  await session.wait(1, commands.length);
  await session.wait(2, 1);
  if (cancel) {
    const last = commands.length + 1;
    await session.send({batches: [{queue: 1, first_value: last, commands: [{write: {buffer: BIG, size: 65536, streamed: true}}]}]});
    await supply(session, last, pattern);
    await session.send({cancels: [{queue: 1, from_value: last}]});
    await session.wait(1, last);
  }
  const small = Buffer.concat(Array.from({length: 16}, (_, i) => Buffer.alloc(64, i)));
  return session.data.get(`1:${commands.length}`)?.equals(pattern) && session.data.get('2:1')?.equals(small);
}

// A google.rpc.Status as the report has it.
function reportOf(status, executionState = 'EXECUTION_STATE_UNSPECIFIED') {
  const find = (name) => status.details?.find((any) => any.type_url.endsWith(`google.rpc.${name}`));
  const info = find('ErrorInfo') ? details['google.rpc.ErrorInfo'].deserialize(find('ErrorInfo').value) : {metadata: {}};
  const more = info.metadata ?? {};
  return {outcome: 'error', code: grpc.status[status.code], reason: info.reason ?? '', field: more.field ?? '',
          limit: more.limit ?? '', limit_value: Number(more.limit_value ?? 0), limit_used: Number(more.limit_used ?? 0),
          hang_report: more.hang_report ?? '', retryable: Boolean(find('RetryInfo')),
          execution_state: executionState.replace('EXECUTION_STATE_', '')};
}

// One job: the driver's report.
async function run(address, reconnectMs, options) {
  try {
    const attach = options.includes('lease') ? {lease: {wait_ms: 10000}}
      : options.includes('lease-token') ? {lease_token: Buffer.from('1ea5e0', 'hex')} : {};
    const session = await Session.connect(api, address, {reconnectMs: Number(reconnectMs), client_name: 'conformance', ...attach});
    const right = await job(session, options.includes('cancel'));
    let report = {outcome: right ? 'ok' : 'wrong bytes'};
    if (session.errors.length > 0) report = reportOf(session.errors[0].status, session.errors[0].execution_state);
    if (options.includes('leave')) {
      await session.send({leave: {}});
      await session.until(() => session.end !== null).catch(() => {});
    } else {
      await session.close();
    }
    return report;
  } catch (error) {
    const [trailer] = error.metadata?.get('grpc-status-details-bin') ?? [];
    return trailer === undefined ? {...reportOf({code: error.code}), message: error.message}
                                 : reportOf(details['google.rpc.Status'].deserialize(trailer));
  }
}

for await (const line of createInterface({input: process.stdin})) {
  const [address, reconnectMs, ...options] = line.split(' ');
  console.log(JSON.stringify(await run(address, reconnectMs, options)));
}
process.exit(0);
