import { createSocket } from 'node:dgram';

/** Answer to a question: values, NXDOMAIN, SERVFAIL, or none. */
export type NameAnswer = readonly string[] | 'unknown' | 'failed' | 'silent';

export interface NameServer extends AsyncDisposable {
  /** As the resolver wants it: `127.0.0.1:port`. */
  address: string;
  /** By `A name` or `PTR name`; whatever is not there is unknown. May be changed at any time. */
  records: Map<string, NameAnswer>;
  /** All questions so far, in order. */
  questions: string[];
}

const types: Record<number, string> = { 1: 'A', 12: 'PTR' };
const codes = { unknown: 3, failed: 2 } as const;

export interface NameServerPlace {
  host: string;
  /** 0 for any that is free. */
  port: number;
}

/** A name server over UDP with A and PTR records, on loopback by default. */
export async function startNameServer(
  records: Record<string, NameAnswer> = {},
  { host, port }: NameServerPlace = { host: '127.0.0.1', port: 0 },
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const server: NameServer = {
    address: '',
    records: new Map(Object.entries(records)),
    questions: [],
    [Symbol.asyncDispose]: () => new Promise(resolve => socket.close(() => resolve())),
  };
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    const question = `${types[type] ?? type} ${name}`;
    server.questions.push(question);
    const answer = server.records.get(question) ?? 'unknown';
    if (answer !== 'silent') socket.send(reply(query.subarray(0, end), type, answer), from.port, from.address);
  });
  await new Promise<void>((resolve, reject) => socket.once('error', reject).bind(port, host, resolve));
  server.address = `${host}:${socket.address().port}`;
  return server;
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length !== 0; length = query.readUInt8(at)) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function reply(query: Buffer, type: number, answer: Exclude<NameAnswer, 'silent'>): Buffer {
  const head = Buffer.from(query);
  const values = typeof answer === 'string' ? [] : answer;
  head.writeUInt16BE(0x8180 | (typeof answer === 'string' ? codes[answer] : 0), 2);
  head.writeUInt16BE(values.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...values.map(value => record(type, value))]);
}

function record(type: number, value: string): Buffer {
  const data = type === 1 ? Buffer.from(value.split('.').map(Number)) : encodeName(value);
  const fixed = Buffer.alloc(12);
  fixed.writeUInt16BE(0xc00c, 0);
  fixed.writeUInt16BE(type, 2);
  fixed.writeUInt16BE(1, 4);
  fixed.writeUInt32BE(60, 6);
  fixed.writeUInt16BE(data.length, 10);
  return Buffer.concat([fixed, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').filter(label => label !== '');
  return Buffer.concat([
    ...labels.map(label => Buffer.from([label.length, ...Buffer.from(label, 'ascii')])),
    Buffer.from([0]),
  ]);
}
