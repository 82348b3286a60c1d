import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { agentRecovery } from '#contract/agent-command.ts';
import { errorOf } from '../../../../test/kit/outcome.ts';
import type { ServiceState } from '../../ports.ts';
import type { Encoded } from '../native.ts';
import {
  decodeConfig,
  decodeDescription,
  decodeEntries,
  decodeList,
  decodeRecovery,
  decodeStatus,
  encodeDescription,
  encodeList,
  encodeNumber,
  encodeRecovery,
  encodeReport,
  encodeServiceTable,
  startTypeNumber,
  statusBytes,
} from './service-records.ts';

const address = 0x1234_5678_9000n;

/** As Windows has it in memory at the address. */
function atAddress({ bytes, pointers }: Encoded): Buffer {
  for (const [at, to] of pointers) bytes.writeBigUInt64LE(address + BigInt(to), at);
  return bytes;
}

/** A buffer with numbers, and with texts behind the structure that pointers point to; each text ends with NUL. */
function record(
  size: number,
  words: Record<number, number>,
  texts: Record<number, string> = {},
  capacity = 8192,
): Buffer {
  const bytes = Buffer.alloc(capacity);
  for (const [offset, word] of Object.entries(words)) bytes.writeUInt32LE(word, Number(offset));
  let end = size;
  for (const [offset, text] of Object.entries(texts)) {
    bytes.writeBigUInt64LE(address + BigInt(end), Number(offset));
    end += bytes.write(`${text}\0`, end, 'utf16le');
  }
  return bytes;
}

const status = (type: number, state: number, pid: number) =>
  record(36, { 0: type, 4: state, 28: pid }, {}, statusBytes);

const states: [number: number, state: ServiceState][] = [
  [1, 'stopped'],
  [2, 'start-pending'],
  [3, 'stop-pending'],
  [4, 'running'],
  [5, 'continue-pending'],
  [6, 'pause-pending'],
  [7, 'paused'],
];
test.each(states)('maps state %i to %s', (number, state) => {
  expect(decodeStatus(status(0x10, number, 77))).toEqual({ state, pid: 77 });
});

test.each([0, 8, 0xffff_ffff])('rejects the unknown state %i', number => {
  const error = errorOf(() => decodeStatus(status(0x10, number, 1)));
  expect(error).toMatchObject({ code: 'WINDOWS_ANSWER_INVALID', message: expect.stringContaining(`state ${number}`) });
  expect(error?.remedy).not.toBe('');
});

const types: [name: string, type: number, pid: number][] = [
  ['a process of its own', 0x10, 77],
  ['an interactive process of its own', 0x110, 77],
  ['a process of its own for a user', 0x50, 77],
  ['a process it shares', 0x20, 0],
  ['an interactive process it shares', 0x120, 0],
  ['a process it shares for a user', 0x60, 0],
  ['an instance in a shared process for a user', 0xe0, 0],
];
test.each(types)('gives the PID of a service with %s only if it does not share its process', (_, type, pid) => {
  expect(decodeStatus(status(type, 4, 77)).pid).toBe(pid);
});

test('reads a list of services', () => {
  const bytes = Buffer.alloc(1000);
  const names = ['kubelet', 'Größe', 'x'];
  let end = names.length * 56;
  for (const [index, name] of names.entries()) {
    bytes.writeBigUInt64LE(address + BigInt(end), index * 56);
    bytes.writeBigUInt64LE(1n, index * 56 + 8);
    status(0x10, index + 1, index + 100).copy(bytes, index * 56 + 16);
    end += bytes.write(`${name}\0`, end, 'utf16le');
  }
  expect(decodeEntries(bytes, address, 3)).toEqual([
    { name: 'kubelet', state: 'stopped', pid: 100 },
    { name: 'Größe', state: 'start-pending', pid: 101 },
    { name: 'x', state: 'stop-pending', pid: 102 },
  ]);
  expect(decodeEntries(bytes, address, 0)).toEqual([]);
});

const configs: [name: string, words: Record<number, number>, texts: Record<number, string>, want: object][] = [
  [
    'everything',
    { 0: 0x10, 4: 2 },
    {
      16: 'C:\\k\\kubelet.exe --a "b c"',
      24: 'group',
      40: 'containerd\0Tcpip\0+Network\0',
      48: 'LocalSystem',
      56: 'x',
    },
    {
      command: 'C:\\k\\kubelet.exe --a "b c"',
      startType: 'automatic',
      dependencies: ['containerd', 'Tcpip', '+Network'],
    },
  ],
  ['no pointers at all', { 4: 3 }, {}, { command: '', startType: 'manual', dependencies: [] }],
  ['an empty list', { 4: 4 }, { 16: '', 40: '' }, { command: '', startType: 'disabled', dependencies: [] }],
  ['a driver of the boot', { 4: 0 }, {}, { command: '', startType: 'automatic', dependencies: [] }],
  ['a driver of the system', { 4: 1 }, {}, { command: '', startType: 'automatic', dependencies: [] }],
  ['text beyond the basic plane', { 4: 3 }, { 16: '𝒳 漢' }, { command: '𝒳 漢', startType: 'manual', dependencies: [] }],
];
test.each(configs)('reads a configuration with %s', (_, words, texts, want) => {
  expect(decodeConfig(record(64, words, texts), address)).toEqual(want);
});

test('reads a description, also one that is not there', () => {
  expect(decodeDescription(record(8, {}, { 0: 'OpenShift managed kubelet' }), address)).toBe(
    'OpenShift managed kubelet',
  );
  expect(decodeDescription(record(8, {}), address)).toBe('');
});

const broken: [name: string, read: () => unknown, why: string][] = [
  ['behind the buffer', () => decodeDescription(pointing(address + 8192n), address), 'pointer out of its buffer'],
  ['before the buffer', () => decodeDescription(pointing(address - 1n), address), 'pointer out of its buffer'],
  ['into nowhere', () => decodeConfig(pointing(0xffff_ffff_ffff_ffffn, 16), address), 'pointer out of its buffer'],
  ['to a text without an end', () => decodeDescription(full(pointing(address + 8190n)), address), 'without an end'],
  ['to half a character', () => decodeDescription(pointing(address + 8191n), address), 'without an end'],
  ['to a list without an end', () => decodeList(Buffer.from('a\0', 'utf16le'), 0), 'without an end'],
  [
    'to actions out of the buffer',
    () => decodeRecovery(actions([[1, 5]], { count: 2000 }), address),
    'pointer out of its',
  ],
];
test.each(broken)('rejects a pointer %s', (_, read, why) => {
  expect(errorOf(read)).toMatchObject({ code: 'WINDOWS_ANSWER_INVALID', message: expect.stringContaining(why) });
});

function pointing(to: bigint, at = 0): Buffer {
  const bytes = Buffer.alloc(8192);
  bytes.writeBigUInt64LE(to, at);
  return bytes;
}

function full(bytes: Buffer): Buffer {
  return bytes.fill(0x61, 8);
}

function actions(
  list: [type: number, delayMs: number][],
  over: { count?: number; resetSeconds?: number } = {},
): Buffer {
  const bytes = record(40, { 0: over.resetSeconds ?? 300, 24: over.count ?? list.length });
  bytes.writeBigUInt64LE(address + 48n, 32);
  for (const [index, [type, delayMs]] of list.entries()) {
    bytes.writeUInt32LE(type, 48 + 8 * index);
    bytes.writeUInt32LE(delayMs, 52 + 8 * index);
  }
  return bytes;
}

const recoveries: [name: string, bytes: Buffer, want: object | undefined][] = [
  [
    'restarts',
    actions([
      [1, 10_000],
      [1, 30_000],
    ]),
    { resetSeconds: 300, restartDelaysMs: [10_000, 30_000] },
  ],
  ['one restart', actions([[1, 0]]), { resetSeconds: 300, restartDelaysMs: [0] }],
  [
    'no limit of time',
    actions([[1, 1]], { resetSeconds: 0xffff_ffff }),
    { resetSeconds: 0xffff_ffff, restartDelaysMs: [1] },
  ],
  ['nothing', actions([]), undefined],
  ['no pointer', record(40, { 24: 3 }), undefined],
  ['an action that does nothing', actions([[0, 0]]), undefined],
  [
    'a restart and then nothing',
    actions([
      [1, 10_000],
      [0, 0],
    ]),
    undefined,
  ],
  [
    'a reboot',
    actions([
      [1, 10_000],
      [2, 60_000],
    ]),
    undefined,
  ],
  ['a command', actions([[3, 0]]), undefined],
];
test.each(recoveries)('reads a recovery with %s', (_, bytes, want) => {
  expect(decodeRecovery(bytes, address)).toEqual(want);
});

const recovery = fc.record({
  resetSeconds: fc.nat(0xffff_ffff),
  restartDelaysMs: fc.array(fc.nat(0xffff_ffff), { minLength: 1, maxLength: 20 }),
});
test('reads every recovery as it was written', () => {
  fc.assert(
    fc.property(recovery, value => {
      expect(decodeRecovery(atAddress(encodeRecovery(value)), address)).toEqual(value);
    }),
    { numRuns: 500 },
  );
});

test('encodes the recovery of the agent', () => {
  const bytes = atAddress(encodeRecovery(agentRecovery));
  const words = Array.from({ length: 8 }, (_, index) => bytes.readUInt32LE(40 + 4 * index));
  expect(words).toEqual([1, 10_000, 1, 30_000, 1, 60_000, 1, 120_000]);
  expect([bytes.readUInt32LE(0), bytes.readUInt32LE(24)]).toEqual([300, 4]);
  expect([8, 16].map(offset => bytes.readBigUInt64LE(offset))).toEqual([0n, 0n]);
});

test('removes a recovery by an array that has no elements but a place', () => {
  const bytes = atAddress(encodeRecovery(undefined));
  expect(bytes.readUInt32LE(24)).toBe(0);
  expect(bytes.readBigUInt64LE(32)).toBe(address + 40n);
  expect(bytes.length).toBeGreaterThan(40);
});

const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter(value => !value.includes('\0'));
test('reads every list and description as it was written', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 10 }), text, (list, description) => {
      expect(decodeList(encodeList(list), 0)).toEqual(list);
      expect(decodeDescription(atAddress(encodeDescription(description)), address)).toBe(description);
    }),
    { numRuns: 500 },
  );
});

const lists: [texts: string[], want: string][] = [
  [[], '\0\0'],
  [['a'], 'a\0\0'],
  [['a', 'bc'], 'a\0bc\0\0'],
];
test.each(lists)('writes the list %j with two NULs at its end', (texts, want) => {
  expect(encodeList(texts).toString('utf16le')).toBe(want);
});

test('reads no list where there is none', () => {
  expect(decodeList(Buffer.alloc(0), undefined)).toEqual([]);
});

test('an empty description is an empty text, not none', () => {
  const bytes = atAddress(encodeDescription(''));
  expect(bytes.readBigUInt64LE(0)).toBe(address + 8n);
  expect(bytes.subarray(8)).toEqual(Buffer.alloc(2));
});

test('writes a flag as 32 bits', () => {
  expect(encodeNumber(1)).toEqual({ bytes: Buffer.from([1, 0, 0, 0]), pointers: [] });
});

test('writes a table with one service and an end', () => {
  const bytes = atAddress(encodeServiceTable('agent', 0xabcdefn));
  expect(bytes.readBigUInt64LE(0)).toBe(address + 32n);
  expect(bytes.readBigUInt64LE(8)).toBe(0xabcdefn);
  expect(bytes.subarray(16, 32)).toEqual(Buffer.alloc(16));
  expect(bytes.toString('utf16le', 32)).toBe('agent\0');
});

test.each(states)('reports state %i as %s', (number, state) => {
  const bytes = encodeReport({ state, acceptedControls: 5, checkPoint: 7, waitHintMs: 9000 });
  const words = Array.from({ length: 7 }, (_, index) => bytes.readUInt32LE(4 * index));
  expect(bytes).toHaveLength(28);
  expect(words).toEqual([0x10, number, 5, 0, 0, 7, 9000]);
});

test.each([
  ['automatic', 2],
  ['manual', 3],
  ['disabled', 4],
] as const)('start type %s is %i', (name, number) => {
  expect(startTypeNumber(name)).toBe(number);
});

test('never fails with other errors for any buffer', () => {
  const random = fc.uint8Array({ minLength: 256, maxLength: 256 });
  // Small numbers where counts and pointers are, so that some of them are good.
  const near = fc.array(fc.tuple(fc.nat(31), fc.nat(300)), { maxLength: 8 });
  const readers = [decodeConfig, decodeDescription, decodeRecovery, (b: Buffer, a: bigint) => decodeEntries(b, a, 4)];
  fc.assert(
    fc.property(random, near, fc.nat(3), (content, pointers, which) => {
      const bytes = Buffer.from(content);
      for (const [slot, offset] of pointers) bytes.writeBigUInt64LE(address + BigInt(offset), 8 * slot);
      try {
        readers[which]?.(bytes, address);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }),
    { numRuns: 2000 },
  );
});
