import { createCipheriv, createHash, hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Defect, stampOf } from './stamp.ts';

/** A program file for simulated hosts, as the payload has them. */
export interface SimulatedFile {
  path: string;
  sha256: string;
  bytes: number;
  encoding: 'none';
  packedBytes: number;
  secret: false;
  content(): AsyncIterable<Uint8Array>;
  packed(): AsyncIterable<Uint8Array>;
}

export interface SimulatedPayload {
  agent(): Promise<SimulatedFile>;
  /** The same for every platform. */
  files(platform: string): Promise<readonly SimulatedFile[]>;
}

export interface PayloadOptions {
  /** Version of operator and agent. */
  version: string;
  /** Path of the agent. */
  agent: string;
  /** Paths of the other programs. */
  programs: readonly string[];
  /** Total size. */
  bytes?: number;
  /** For a patch release: the version whose programs it has, and the paths of those that differ. The agent always does. */
  since?: { version: string; changed: readonly string[] };
  /** Programs that do not work, by path. */
  defects?: Readonly<Record<string, Defect>>;
  /** Versions that programs themselves report, by path. */
  reports?: Readonly<Record<string, string>>;
}

const pieceBytes = 256 * 1024;

/** Programs for simulated hosts: of a given size, incompressible and reproducible. */
export function simulatedPayload(options: PayloadOptions): SimulatedPayload {
  const { version, agent, programs, bytes = 0, since, defects = {}, reports = {} } = options;
  const isKept = (path: string) => since !== undefined && path !== agent && !since.changed.includes(path);
  const stampFor = (path: string) => {
    const [reported, defect] = [reports[path], defects[path]];
    const about = { ...(reported !== undefined && { reports: reported }), ...(defect !== undefined && { defect }) };
    return stampOf(nameOf(path), isKept(path) ? (since?.version ?? version) : version, about);
  };
  const share = Math.floor(bytes / (programs.length + 1));
  const made = new Map<string, Promise<SimulatedFile>>();
  const fileAt = (path: string): Promise<SimulatedFile> => {
    const present = made.get(path) ?? makeFile(path, stampFor(path), share);
    made.set(path, present);
    return present;
  };
  return { agent: () => fileAt(agent), files: () => Promise.all(programs.map(fileAt)) };
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('\\') + 1);
}

async function makeFile(path: string, stamp: string, bytes: number): Promise<SimulatedFile> {
  const name = nameOf(path);
  const head = Buffer.from(stamp);
  const content = async function* pieces() {
    yield* piecesOf(head, name, bytes);
  };
  const digest = createHash('sha256');
  let total = 0;
  for (const piece of piecesOf(head, name, bytes)) {
    digest.update(piece);
    total += piece.length;
    // Yields to other tasks.
    await setImmediate();
  }
  return {
    path,
    sha256: digest.digest('hex'),
    bytes: total,
    encoding: 'none',
    packedBytes: total,
    secret: false,
    content,
    packed: content,
  };
}

/** A stream cipher produces incompressible bytes. */
function* piecesOf(head: Uint8Array, name: string, bytes: number): Generator<Uint8Array> {
  yield head;
  const cipher = createCipheriv('aes-128-ctr', hash('md5', name, 'buffer'), Buffer.alloc(16));
  const zeros = Buffer.alloc(pieceBytes);
  for (let left = bytes - head.length; left > 0; left -= pieceBytes) {
    yield cipher.update(left < pieceBytes ? zeros.subarray(0, left) : zeros);
  }
}
