import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Client } from 'ssh2';
import { expect, onTestFinished, test } from 'vitest';
import { freeSentRequests, joinWrites } from './packet-writes.ts';

/** Both ends of a TCP connection. */
async function connection(): Promise<{ socket: Socket; peer: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [peer] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    socket.destroy();
    peer.destroy();
    server.close();
  });
  joinWrites(socket);
  return { socket, peer };
}

async function received(peer: Socket, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let left = bytes; left > 0; ) {
    const [chunk] = (await once(peer, 'data')) as [Buffer];
    chunks.push(chunk);
    left -= chunk.length;
  }
  return Buffer.concat(chunks);
}

const large = (fill: string) => Buffer.allocUnsafeSlow(40_000).fill(fill);

test('sends all writes in order and frees the large ones', async () => {
  const { socket, peer } = await connection();
  const parts = [Buffer.from('head'), large('a'), 'text', large('b'), Buffer.from('tail')];
  const expected = Buffer.concat(parts.map(part => Buffer.from(part)));
  for (const part of parts) socket.write(part);
  expect(await received(peer, expected.length)).toEqual(expected);
  await expect.poll(() => parts.map(({ length }) => length)).toEqual([4, 0, 4, 0, 4]);
});

test('the writes of one tick leave together', async () => {
  const { socket, peer } = await connection();
  for (const text of ['one ', 'two ', 'three']) socket.write(text);
  expect(socket.writableLength).toBe(13);
  const [first] = (await once(peer, 'data')) as [Buffer];
  expect(first.toString()).toBe('one two three');
});

test('a part of a packet is sent, and the packet freed after the tick, even if the peer does not read', async () => {
  const { socket, peer } = await connection();
  const packet = large('x');
  socket.write(packet.subarray(0, 4));
  expect(packet.length, 'the library encrypts it after this').toBe(40_000);
  await new Promise(setImmediate);
  expect(packet.length).toBe(0);
  expect((await received(peer, 4)).toString()).toBe('xxxx');
});

test('keeps what waits for a slow peer, and a broken connection fails no write', async () => {
  const { socket, peer } = await connection();
  peer.pause();
  socket.on('error', () => undefined);
  const sent = Array.from({ length: 500 }, () => large('x'));
  for (const one of sent) socket.write(one);
  await new Promise(setImmediate);
  expect(sent.at(-1)?.length).toBe(40_000);
  peer.resetAndDestroy();
  await new Promise(resolve => {
    socket.once('close', resolve);
  });
  expect(() => socket.write(large('y'))).not.toThrow();
});

test('frees a request with its last part, after the library has copied it', () => {
  const lengths: number[] = [];
  const protocol = { channelData: (_channel: number, data: Uint8Array) => lengths.push(data.length) };
  freeSentRequests({ _protocol: protocol } as unknown as Client);
  const request = large('x');
  for (const [from, to] of [
    [0, 32_768],
    [32_768, 40_000],
  ] as const) {
    expect(request.length).toBe(40_000);
    protocol.channelData(0, request.subarray(from, to));
  }
  expect(lengths).toEqual([32_768, 7232]);
  expect(request.length).toBe(0);
});

test('a library without that method stays as it is', () => {
  expect(() => freeSentRequests({} as Client)).not.toThrow();
});
