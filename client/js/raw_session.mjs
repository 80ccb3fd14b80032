// Everything the transport asks of a client, in JavaScript with @grpc/grpc-js and the .proto files alone.
//
// proto-loader must keep the names of fields (keepCase): it would drop those it does not find without a word. The session
// acknowledges every message at once, which is simple; a library would let acks ride on what it sends (docs/api.md).
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';
import {setTimeout as sleep} from 'node:timers/promises';

export function loadApi(protoDir) {
  const definition = protoLoader.loadSync('ttfd/v1/ttfd.proto', {
    includeDirs: [protoDir], keepCase: true, longs: Number, enums: String, bytes: Buffer, oneofs: true});
  return definition['ttfd.v1.DeviceService'].Session;
}

export class Session {
  // Fields of Hello may be given by name. Resolves when the daemon has welcomed the client.
  static async connect(api, address, {reconnectMs = 20000, ...hello} = {}) {
    const session = new Session();
    Object.assign(session, {
      api, address, reconnectMs, hello: {min_revision: 1, max_revision: 1, reconnect_timeout_ms: reconnectMs, ...hello},
      sent: 0, received: 0, cost: 0, window: 0, kept: [], completed: new Map(), errors: [], data: new Map(), notices: [],
      welcome: null, connected: false, end: null, wake: () => {}});
    session.open();
    await session.until(() => session.welcome !== null);
    return session;
  }

  open() {
    this.client?.close();
    this.client = new grpc.Client(this.address, grpc.credentials.createInsecure(), {'grpc.use_local_subchannel_pool': 1});
    const call = this.client.makeBidiStreamRequest(this.api.path, (bytes) => bytes, this.api.responseDeserialize);
    this.call = call;
    call.on('data', (message) => this.call === call && this.take(message));
    call.on('error', () => {});  // the status says the same
    call.on('status', (status) => this.call === call && this.ended(status));
    call.write(this.api.requestSerialize({hello: this.hello}));  // Hello is alone
  }

  async ended(status) {
    this.call = null;
    this.connected = false;
    const ended = status.metadata.get('grpc-status-details-bin').length > 0;  // by the daemon
    const resumable = status.code === grpc.status.UNAVAILABLE && !ended && this.welcome !== null && this.reconnectMs > 0;
    this.giveUp ??= Date.now() + this.reconnectMs;
    if (!resumable || Date.now() >= this.giveUp) return this.finish(status);
    await sleep(20);
    const {lease, lease_token, ...hello} = this.hello;  // resume takes their place
    const {session, token} = this.welcome;
    this.hello = {...hello, resume: {session, token, received: this.received}};
    this.open();
  }

  take(message) {
    const sequence = message.sequence ?? 0;
    if (message.welcome) this.takeWelcome(message.welcome);
    this.kept = this.kept.filter((one) => one.sequence > (message.ack ?? 0));
    this.window = Math.max(this.window, message.window_bytes ?? 0);
    if (sequence === 0 || sequence > this.received) {  // else it came again after a resume
      if (sequence > this.received + 1 || (message.ack ?? 0) > this.sent) {
        this.call.cancel();
        return this.finish({code: grpc.status.INTERNAL, details: `message ${sequence} after ${this.received}`});
      }
      this.notices.push(...message.notices ?? []);
      for (const {queue = 0, value = 0, payload} of message.data ?? []) {
        const key = `${queue}:${value}`;
        this.data.set(key, Buffer.concat([this.data.get(key) ?? Buffer.alloc(0), payload]));
      }
      this.errors.push(...message.errors ?? []);
      for (const {queue = 0, value = 0} of message.progress ?? []) {
        this.completed.set(queue, Math.max(this.completed.get(queue) ?? 0, value));
      }
      if (sequence !== 0) {
        this.received = sequence;
        this.call.write(this.api.requestSerialize({ack: sequence}));
      }
    }
    this.wake();
  }

  takeWelcome(welcome) {
    this.welcome = welcome;
    this.connected = true;
    this.giveUp = null;
    this.window = Math.max(this.window, welcome.window_bytes);
    this.kept = this.kept.filter((one) => one.sequence > (welcome.received ?? 0));
    for (const {encoded} of this.kept) this.call.write(encoded);  // after a resume: unchanged, before anything new
  }

  // One message of the session: open_queues, batches, data, cancels, finish, leave.
  async send(message) {
    const charged = Boolean(message.batches || message.data);
    const commands = (message.batches ?? []).reduce((sum, batch) => sum + (batch.commands?.length ?? 0), 0);
    const cost = commands * this.welcome.limits.command_bytes;
    if (charged) {
      const bytes = cost + this.api.requestSerialize(message).length + 24;  // 24: sequence and ack, at most
      await this.until(() => this.cost + bytes <= this.window);
    }
    const sequence = ++this.sent;
    const encoded = this.api.requestSerialize({...message, sequence, ack: this.received});
    if (charged) this.cost += cost + encoded.length;
    this.kept.push({sequence, encoded});
    if (this.connected) this.call.write(encoded);
  }

  // Until all commands of the queue up to `value` have ended.
  wait(queue, value) {
    return this.until(() => (this.completed.get(queue) ?? 0) >= value);
  }

  // The daemon completes everything and ends the call.
  async close() {
    await this.send({finish: {}});
    await this.until(() => this.end !== null);
  }

  async until(done) {
    while (!done()) {
      if (this.end !== null) throw Object.assign(new Error(this.end.details ?? 'the session has ended'), this.end);
      await new Promise((resolve) => { this.wake = resolve; });
    }
    if (this.end !== null && this.end.code !== grpc.status.OK) throw Object.assign(new Error(this.end.details), this.end);
  }

  finish(end) {
    this.end ??= end;
    this.call = null;
    this.client.close();
    this.wake();
  }
}
