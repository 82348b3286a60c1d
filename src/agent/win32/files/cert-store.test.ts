import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { contextBytes, decodeContext, openCertStore } from './cert-store.ts';

const der = (text: string) => Buffer.from(`certificate ${text}`);
const hash = (text: string) => createHash('sha256').update(der(text)).digest('hex');

/** LocalMachine\ROOT in memory behind the functions of Windows; counts what is open. */
class FakeStore {
  certificates: Buffer[];
  openStores = 0;
  readonly contexts = new Map<bigint, Buffer>();
  readonly flags: number[] = [];
  failing: Record<string, number> = {};

  constructor(...texts: string[]) {
    this.certificates = texts.map(der);
  }

  readonly koffi: FakeKoffi = new FakeKoffi({
    CertOpenStore: (...args: unknown[]) => {
      expect([args[0], args[4]]).toEqual([13, 'ROOT']);
      this.flags.push(args[3] as number);
      if (this.#fails('CertOpenStore')) return null;
      this.openStores += 1;
      return 0x5000n;
    },
    CertEnumCertificatesInStore: (_store: bigint, previous: bigint | null) => {
      const index = previous === null ? 0 : this.certificates.indexOf(this.#release(previous)) + 1;
      return this.#context(this.certificates[index]);
    },
    CertAddEncodedCertificateToStore: (...args: unknown[]) => {
      const [encoding, bytes, length, disposition] = args.slice(1);
      expect([encoding, length, disposition]).toEqual([1, (bytes as Buffer).length, 4]);
      if (this.#fails('CertAddEncodedCertificateToStore')) return 0;
      this.certificates.push(bytes as Buffer);
      return 1;
    },
    CertDeleteCertificateFromStore: (context: bigint) => {
      const bytes = this.#release(context);
      if (this.#fails('CertDeleteCertificateFromStore')) return 0;
      this.certificates = this.certificates.filter(certificate => certificate !== bytes);
      return 1;
    },
    CertCloseStore: (_store: bigint, flags: number) => {
      this.openStores -= 1;
      if (this.#fails('CertCloseStore')) return 0;
      const isLeftOpen = flags === 2 && this.contexts.size > 0;
      this.koffi.lastError = isLeftOpen ? 0x8009_200f : 0;
      return isLeftOpen ? 0 : 1;
    },
  });

  readonly port = openCertStore(this.koffi);

  #fails(call: string): boolean {
    const number = this.failing[call];
    if (number !== undefined) this.koffi.lastError = number;
    return number !== undefined;
  }

  #context(bytes: Buffer | undefined): bigint | null {
    if (bytes === undefined) return null;
    const record = Buffer.alloc(contextBytes, 0xee);
    record.writeBigUInt64LE(this.koffi.store(bytes), 8);
    record.writeUInt32LE(bytes.length, 16);
    const address = this.koffi.store(record);
    this.contexts.set(address, bytes);
    return address;
  }

  #release(context: bigint): Buffer {
    const bytes = this.contexts.get(context);
    if (bytes === undefined) throw new Error('a context was freed twice');
    this.contexts.delete(context);
    return bytes;
  }

  /** Nothing is open any more. */
  get isClosed(): boolean {
    return this.openStores === 0 && this.contexts.size === 0;
  }
}

test('finds the certificate in a context', () => {
  const context = Buffer.alloc(contextBytes);
  context.writeUInt32LE(1, 0);
  context.writeBigUInt64LE(0x7fff_1234_5678n, 8);
  context.writeUInt32LE(1234, 16);
  expect(decodeContext(context)).toEqual({ address: 0x7fff_1234_5678n, length: 1234 });
});

test.each([[[]], [['a']], [['a', 'b', 'c']]])('lists %j by their hashes, in order', async texts => {
  const store = new FakeStore(...texts);
  expect(await store.port.list()).toEqual(texts.map(hash));
  expect(store.isClosed).toBe(true);
});

test('opens the store of the machine, only to read when it only lists', async () => {
  const store = new FakeStore('a');
  await store.port.list();
  await store.port.add(der('b'));
  await store.port.remove(hash('b'));
  expect(store.flags).toEqual([0x2_8000, 0x2_0000, 0x2_0000]);
});

test('adds a certificate with unchanged bytes', async () => {
  const store = new FakeStore('a');
  await store.port.add(new Uint8Array(der('b')));
  expect(store.certificates).toEqual([der('a'), der('b')]);
  expect(store.isClosed).toBe(true);
});

test('adds no certificate twice', async () => {
  const store = new FakeStore('a', 'b', 'c');
  await store.port.add(der('b'));
  expect(store.certificates).toEqual([der('a'), der('b'), der('c')]);
  expect(store.isClosed).toBe(true);
});

const removals: [string, string[], string, string[]][] = [
  ['the first', ['a', 'b', 'c'], 'a', ['b', 'c']],
  ['one in the middle', ['a', 'b', 'c'], 'b', ['a', 'c']],
  ['the last', ['a', 'b', 'c'], 'c', ['a', 'b']],
  ['the only one', ['a'], 'a', []],
];
test.each(removals)('removes %s and no other', async (_, before, text, after) => {
  const store = new FakeStore(...before);
  await store.port.remove(hash(text));
  expect(store.certificates).toEqual(after.map(der));
  expect(store.isClosed).toBe(true);
});

test.each([[[]], [['a', 'b']]])('ignores that the certificate to remove is not among %j', async before => {
  const store = new FakeStore(...before);
  await store.port.remove(hash('x'));
  expect(store.certificates).toEqual(before.map(der));
  expect(store.koffi.calls).not.toContain('CertDeleteCertificateFromStore');
  expect(store.isClosed).toBe(true);
});

const failures: [string, (store: FakeStore) => Promise<unknown>, string][] = [
  ['CertOpenStore', store => store.port.list(), 'LocalMachine\\ROOT'],
  ['CertAddEncodedCertificateToStore', store => store.port.add(der('x')), hash('x')],
  ['CertDeleteCertificateFromStore', store => store.port.remove(hash('b')), hash('b')],
  ['CertCloseStore', store => store.port.remove(hash('b')), 'LocalMachine\\ROOT'],
];
test.each(failures)('reports that %s failed, for what and why, and leaves nothing open', async (call, act, object) => {
  const store = new FakeStore('a', 'b', 'c');
  store.failing = { [call]: 5 };
  await expect(act(store)).rejects.toMatchObject({
    code: 'WINDOWS_ACCESS_DENIED',
    message: expect.stringContaining(`${call} failed for`) as string,
    remedy: expect.stringMatching(/./) as string,
  });
  await expect(act(store)).rejects.toThrow(object);
  expect(store.isClosed).toBe(true);
});
