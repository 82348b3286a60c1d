import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type Answer, startServer, streamOf } from '../../../test/kit/tls-server.ts';
import { readChunks, readText } from './body.ts';
import type { Exchange } from './exchange.ts';
import { Transport } from './transport.ts';

const never = new AbortController().signal;
const name = 'GET /x';

/** The head of an answer whose body the test writes. */
async function answering(protocol: 'h2' | 'http/1.1', write: (answer: Answer) => unknown): Promise<Exchange> {
  const server = await startServer((_, answer) => void write(answer), { protocol });
  const transport = new Transport(server.connection());
  onTestFinished(async () => {
    await transport.close();
    await server.stop();
  });
  return transport.send({ method: 'GET', path: '/x', headers: {} }, {}, never);
}

async function chunksOf(exchange: Exchange, signal = never): Promise<string> {
  let text = '';
  for await (const chunk of readChunks(exchange, { name, signal })) text += chunk.toString('latin1');
  return text;
}

const large = randomBytes(400_000).toString('hex');

for (const protocol of ['h2', 'http/1.1'] as const) {
  const bodies: [string, (answer: Answer) => void, string][] = [
    ['nothing', answer => answer.end(), ''],
    ['one chunk', answer => answer.end('abc'), 'abc'],
    ['several chunks', answer => void (answer.write('a'), answer.write('b'), answer.end('c')), 'abc'],
    ['a large body', answer => answer.end(large), large],
  ];
  for (const [what, write, want] of bodies) {
    test(`${protocol}: reads ${what}, whole and in chunks`, async () => {
      expect(await readText(await answering(protocol, write), { name, signal: never })).toBe(want);
      expect(await chunksOf(await answering(protocol, write))).toBe(want);
    });
  }

  test(`${protocol}: puts characters together that were cut in two`, async () => {
    const bytes = Buffer.from('Grüße €');
    const exchange = await answering(protocol, async answer => {
      for (const byte of bytes) {
        answer.write(Buffer.of(byte));
        await delay(1);
      }
      answer.end();
    });
    expect(await readText(exchange, { name, signal: never })).toBe('Grüße €');
  });

  const cut: [string, (answer: Answer) => void][] = [
    [
      'is cut off',
      answer => {
        answer.write('abc');
        setTimeout(() => (protocol === 'h2' ? streamOf(answer).close(2) : answer.destroy()), 20);
      },
    ],
  ];
  for (const [what, write] of cut) {
    test(`${protocol}: reports a body that ${what}`, async () => {
      const want = { code: 'API_CONNECTION_BROKEN', message: expect.stringMatching(/^GET \/x: ./) };
      await expect(readText(await answering(protocol, write), { name, signal: never })).rejects.toMatchObject(want);
      await expect(chunksOf(await answering(protocol, write))).rejects.toMatchObject(want);
    });
  }

  test(`${protocol}: takes no more than allowed and ends the exchange`, async () => {
    let isClosed = false;
    const exchange = await answering(protocol, answer => {
      answer.once('close', () => (isClosed = true));
      answer.write('x'.repeat(11));
    });
    await expect(readText(exchange, { name, signal: never, maxBytes: 10 })).rejects.toMatchObject({
      code: 'API_ANSWER_INVALID',
      message: 'GET /x: the response is longer than 10 bytes',
    });
    await expect.poll(() => isClosed).toBe(true);
  });

  for (const [what, read] of [
    ['whole', readText],
    ['in chunks', (exchange: Exchange, { signal }: { signal: AbortSignal }) => chunksOf(exchange, signal)],
  ] as const) {
    test(`${protocol}: stops reading a slow body ${what} when the caller gives up, and tells the server`, async () => {
      let isClosed = false;
      const exchange = await answering(protocol, answer => {
        answer.once('close', () => (isClosed = true));
        answer.write('slow');
      });
      const caller = new AbortController();
      setTimeout(() => caller.abort(new Error('enough')), 20);
      await expect(read(exchange, { name, signal: caller.signal })).rejects.toThrow('enough');
      await expect.poll(() => isClosed).toBe(true);
    });

    test(`${protocol}: does not begin to read ${what} when the caller has given up already`, async () => {
      const exchange = await answering(protocol, answer => void answer.write('slow'));
      await expect(read(exchange, { name, signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
    });
  }

  test(`${protocol}: ends the exchange when the reader has had enough`, async () => {
    let isClosed = false;
    const exchange = await answering(protocol, answer => {
      answer.once('close', () => (isClosed = true));
      answer.write('one');
    });
    for await (const chunk of readChunks(exchange, { name, signal: never })) {
      expect(chunk.toString()).toBe('one');
      break;
    }
    await expect.poll(() => isClosed).toBe(true);
  });

  test(`${protocol}: ends the exchange when the reader throws`, async () => {
    let isClosed = false;
    const exchange = await answering(protocol, answer => {
      answer.once('close', () => (isClosed = true));
      answer.write('one');
    });
    const reading = (async () => {
      for await (const _ of readChunks(exchange, { name, signal: never })) throw new Error('mine');
    })();
    await expect(reading).rejects.toThrow('mine');
    await expect.poll(() => isClosed).toBe(true);
  });
}

test('reports the server with the code for a cancelled stream', async () => {
  const closed = Promise.withResolvers<number | undefined>();
  const exchange = await answering('h2', answer => {
    answer.once('close', () => closed.resolve(streamOf(answer).rstCode));
    answer.write('one');
  });
  exchange.cancel();
  expect(await closed.promise).toBe(8);
});
