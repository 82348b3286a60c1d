import type { Recovery, ServiceConfig, ServiceState, ServiceStatus } from '../../ports.ts';
import { encodeText, Memory } from '../memory.ts';
import type { Encoded } from '../native.ts';

/**
 * The structures of the service manager on 64-bit Windows. What their pointers lead to follows in the same buffer, whose
 * address is given.
 */

export interface ServiceEntry extends ServiceStatus {
  name: string;
}

export type BasicConfig = Pick<ServiceConfig, 'command' | 'startType' | 'dependencies'>;

const sizeOf = { status: 36, entry: 56, failureActions: 40, action: 8, description: 8, tableEntry: 16 } as const;
export const statusBytes = sizeOf.status;

/** SERVICE_STATUS_PROCESS */
export function decodeStatus(bytes: Buffer, offset = 0): ServiceStatus {
  const [type, state] = [bytes.readUInt32LE(offset), bytes.readUInt32LE(offset + 4)];
  const sharesProcess = (type & 0x20) !== 0;
  return { state: stateOf(state, bytes), pid: sharesProcess ? 0 : bytes.readUInt32LE(offset + 28) };
}

/** An array of ENUM_SERVICE_STATUS_PROCESSW */
export function decodeEntries(bytes: Buffer, address: bigint, count: number): ServiceEntry[] {
  const memory = memoryOf(bytes, address);
  return Array.from({ length: count }, (_, index) => {
    const offset = index * sizeOf.entry;
    return { name: memory.text(offset), ...decodeStatus(bytes, offset + 16) };
  });
}

/** QUERY_SERVICE_CONFIGW */
export function decodeConfig(bytes: Buffer, address: bigint): BasicConfig {
  const memory = memoryOf(bytes, address);
  return {
    command: memory.text(16),
    startType: startTypeOf(bytes.readUInt32LE(4)),
    dependencies: decodeList(bytes, memory.pointer(40)),
  };
}

/** SERVICE_DESCRIPTIONW */
export function decodeDescription(bytes: Buffer, address: bigint): string {
  return memoryOf(bytes, address).text(0);
}

/** SERVICE_FAILURE_ACTIONSW; undefined unless all actions are restarts. */
export function decodeRecovery(bytes: Buffer, address: bigint): Recovery | undefined {
  const memory = memoryOf(bytes, address);
  const [count, start] = [bytes.readUInt32LE(24), memory.pointer(32)];
  if (count === 0 || start === undefined) return undefined;
  memory.slice(start, count * sizeOf.action);
  const offsets = Array.from({ length: count }, (_, index) => start + index * sizeOf.action);
  if (offsets.some(offset => bytes.readUInt32LE(offset) !== restartAction)) return undefined;
  return {
    resetSeconds: bytes.readUInt32LE(0),
    restartDelaysMs: offsets.map(offset => bytes.readUInt32LE(offset + 4)),
  };
}

/** A list of NUL-terminated texts that ends with an empty one. */
export function decodeList(bytes: Buffer, start: number | undefined): string[] {
  const [texts, memory]: [string[], Memory] = [[], memoryOf(bytes)];
  for (let at = start; at !== undefined; ) {
    const text = memory.textAt(at);
    if (text === '') break;
    texts.push(text);
    at += 2 * (text.length + 1);
  }
  return texts;
}

/** At least two NULs, because a single one may be read as "no change". */
export function encodeList(texts: readonly string[]): Buffer {
  return Buffer.from(`${texts.map(text => `${text}\0`).join('')}\0${texts.length === 0 ? '\0' : ''}`, 'utf16le');
}

/** SERVICE_DESCRIPTIONW */
export function encodeDescription(description: string): Encoded {
  const text = encodeText(description);
  return { bytes: Buffer.concat([Buffer.alloc(sizeOf.description), text]), pointers: [[0, sizeOf.description]] };
}

/** SERVICE_FAILURE_ACTIONSW; an empty array removes all actions. */
export function encodeRecovery(recovery: Recovery | undefined): Encoded {
  const delays = recovery?.restartDelaysMs ?? [];
  // At least one element, so that the pointer is valid.
  const bytes = Buffer.alloc(sizeOf.failureActions + sizeOf.action * Math.max(1, delays.length));
  bytes.writeUInt32LE(recovery?.resetSeconds ?? 0, 0);
  bytes.writeUInt32LE(delays.length, 24);
  for (const [index, delayMs] of delays.entries()) {
    const offset = sizeOf.failureActions + index * sizeOf.action;
    bytes.writeUInt32LE(restartAction, offset);
    bytes.writeUInt32LE(delayMs, offset + 4);
  }
  return { bytes, pointers: [[32, sizeOf.failureActions]] };
}

/** A single DWORD or BOOL, as in SERVICE_FAILURE_ACTIONS_FLAG. */
export function encodeNumber(value: number): Encoded {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return { bytes, pointers: [] };
}

/** SERVICE_TABLE_ENTRYW for one service, and the empty one that ends the table. */
export function encodeServiceTable(name: string, main: bigint): Encoded {
  const bytes = Buffer.concat([Buffer.alloc(2 * sizeOf.tableEntry), encodeText(name)]);
  bytes.writeBigUInt64LE(main, 8);
  return { bytes, pointers: [[0, 2 * sizeOf.tableEntry]] };
}

/** SERVICE_STATUS as a service reports it. */
export interface ReportedStatus {
  state: ServiceState;
  acceptedControls: number;
  checkPoint: number;
  waitHintMs: number;
}

export function encodeReport(status: ReportedStatus): Buffer {
  const ownProcess = 0x10;
  const { state, acceptedControls, checkPoint, waitHintMs } = status;
  const words = [ownProcess, states.indexOf(state) + 1, acceptedControls, 0, 0, checkPoint, waitHintMs];
  const bytes = Buffer.alloc(4 * words.length);
  for (const [index, word] of words.entries()) bytes.writeUInt32LE(word, 4 * index);
  return bytes;
}

/** The start type as Windows encodes it. */
export function startTypeNumber(startType: ServiceConfig['startType']): number {
  return { automatic: 2, manual: 3, disabled: 4 }[startType];
}

const restartAction = 1;

/** In the order of their numbers in Windows, from 1. */
const states: readonly ServiceState[] = [
  'stopped',
  'start-pending',
  'stop-pending',
  'running',
  'continue-pending',
  'pause-pending',
  'paused',
];

function stateOf(number: number, bytes: Buffer): ServiceState {
  const state = states[number - 1];
  if (state === undefined) throw memoryOf(bytes).invalid(`has the unknown state ${number}`);
  return state;
}

/** 0 and 1 are drivers that start with the system. */
function startTypeOf(number: number): ServiceConfig['startType'] {
  if (number === 4) return 'disabled';
  return number === 3 ? 'manual' : 'automatic';
}

function memoryOf(bytes: Buffer, address = 0n): Memory {
  return new Memory(bytes, address, 'a record of the service manager');
}
