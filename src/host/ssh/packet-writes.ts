import type { Socket } from 'node:net';
import type { Client } from 'ssh2';
import { freeMemory, freeWithLastPart } from '#base/free-memory.ts';

/**
 * Sends all writes of a tick with one system call, and frees their memory. The library writes each packet in three parts, gives no
 * callbacks, and does not read a packet again once it is encrypted.
 */
export function joinWrites(socket: Socket): void {
  const write = socket.write.bind(socket);
  let plainPackets: Uint8Array[] = [];
  const flush = () => {
    for (const packet of plainPackets) freeMemory(packet);
    plainPackets = [];
    socket.uncork();
  };
  socket.write = (chunk: Uint8Array | string) => {
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(flush);
    }
    if (typeof chunk === 'string') return write(chunk);
    if (chunk.length === chunk.buffer.byteLength) return write(chunk, () => freeMemory(chunk));
    // The length of a packet is written as part of the plain packet, which must not stay in memory until the host has read it.
    plainPackets.push(chunk);
    return write(Buffer.from(chunk));
  };
}

interface Protocol {
  channelData?: (channel: number, data: Uint8Array | string) => void;
}

/** Frees each large request, which only uploads have, as soon as the library has copied all of its parts into packets. */
export function freeSentRequests(client: Client): void {
  const protocol = (client as { _protocol?: Protocol })._protocol;
  const send = protocol?.channelData;
  if (protocol === undefined || send === undefined) return;
  protocol.channelData = (channel, data) => {
    send.call(protocol, channel, data);
    if (typeof data !== 'string') freeWithLastPart(data);
  };
}
