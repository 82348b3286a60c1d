import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { sha256 } from '../../src/base/sha256.ts';
import { payloadFiles } from '../../src/node/payload.ts';
import { temporaryFolder } from './payload-command.ts';
import { tarOf } from './tar-archive.ts';
import { type Answer, type SeenRequest, type ServerOptions, startServer, type TestServer } from './tls-server.ts';
import { zipOf } from './zip-archive.ts';

interface LockedFile {
  path: string;
  member?: string;
  sha256: string;
}

/** As in a lock. */
export interface LockedSource {
  name: string;
  version: string;
  license: string;
  files: LockedFile[];
  [key: string]: unknown;
}

export type Fault = (request: SeenRequest, answer: Answer, turn: number) => void;

export interface Vendor {
  readonly server: TestServer;
  readonly root: string;
  /** The lock, and where programs are downloaded to. */
  readonly lock: string;
  readonly output: string;
  /** What the server has, by the path of its URL. */
  readonly served: Map<string, Buffer>;
  /** Every program, by its path in the payload. */
  readonly programs: Map<string, Buffer>;
  readonly sources: LockedSource[];
  /** Answers in place of the server; the first request for the path is turn 1. */
  readonly faults: Map<string, Fault>;
  /** Writes `sources` to the lock. */
  writeLock(): Promise<void>;
  /** Requests for a path. */
  seen(path: string): SeenRequest[];
}

const noSum = 'unverified';

/** A server with all programs of a payload, as archives of three formats and as files, and a lock for it. */
export async function startVendor({
  isPinned = true,
  options = { protocol: 'plain' },
}: {
  isPinned?: boolean;
  options?: ServerOptions;
} = {}): Promise<Vendor> {
  const root = await temporaryFolder();
  const served = new Map<string, Buffer>();
  const faults = new Map<string, Fault>();
  const turns = new Map<string, number>();
  const server = await startServer((request, answer) => {
    const turn = (turns.get(request.path) ?? 0) + 1;
    turns.set(request.path, turn);
    const fault = faults.get(request.path);
    if (fault === undefined) serve(request, answer, served.get(request.path));
    else fault(request, answer, turn);
  }, options);
  onTestFinished(() => server.stop());
  const { programs, packed } = (made ??= makePrograms());
  const sum = (content: Uint8Array) => (isPinned ? sha256(content) : noSum);
  const sources = sourcesOf({ programs, packed }, { served, url: server.url, sum });
  const lock = join(root, 'payload.lock.yaml');
  const writeLock = () => writeFile(lock, `# A comment.\n${stringify({ kubernetes: 'v1.36', sources })}`);
  await writeLock();
  const seen = (path: string) => server.seen.filter(each => each.path === path);
  return {
    server,
    root,
    lock,
    output: join(root, 'files'),
    served,
    programs: new Map(programs),
    sources,
    faults,
    writeLock,
    seen,
  };
}

interface Making {
  served: Map<string, Buffer>;
  url: string;
  sum: (content: Uint8Array) => string;
}

const archives = [
  { name: 'kubernetes', file: 'node.tar.gz', paths: /^kube-node\//, pack: (all: Members) => gzipSync(tarOf(all)) },
  { name: 'containerd', file: 'containerd.zip', paths: /^containerd\//, pack: (all: Members) => zipOf(all) },
  { name: 'cni-plugins', file: 'cni.tgz', paths: /^cni\//, pack: (all: Members) => gzipSync(tarOf(all)) },
];
type Members = Record<string, Buffer>;

interface Made {
  programs: ReadonlyMap<string, Buffer>;
  /** Archives by name. */
  packed: ReadonlyMap<string, Buffer>;
}

/** The same for all tests of a file; nobody changes them. */
let made: Made | undefined;
function makePrograms(): Made {
  const programs = new Map(
    payloadFiles
      .filter(({ isOptional }) => isOptional !== true)
      .map(({ source }) => [source, Buffer.concat([Buffer.from('MZ'), randomBytes(150_000), Buffer.from(source)])]),
  );
  const packed = archives.map(({ name, paths, pack }) => {
    const members = [...programs]
      .filter(([path]) => paths.test(path))
      .map(([path, content]) => [memberOf(path), content]);
    return [name, pack({ 'bin/readme.txt': Buffer.from('text'), ...Object.fromEntries(members) })] as const;
  });
  return { programs, packed: new Map(packed) };
}

const memberOf = (path: string) => `bin/${path.slice(path.lastIndexOf('/') + 1)}`;

function sourcesOf({ programs, packed }: Made, { served, url, sum }: Making): LockedSource[] {
  const about = { version: 'v1.0', license: 'Apache-2.0' };
  const paths = [...programs.keys()];
  const contentOf = (path: string) => programs.get(path) ?? Buffer.alloc(0);
  const archived = archives.map(({ name, file, paths: own }) => {
    const files = paths
      .filter(path => own.test(path))
      .map(path => ({ path, member: memberOf(path), sha256: sum(contentOf(path)) }));
    const archive = packed.get(name) ?? Buffer.alloc(0);
    served.set(`/releases/${file}`, archive);
    return { name, ...about, archive: `${url}/releases/${file}`, sha256: sum(archive), files };
  });
  const single = paths
    .filter(path => !archives.some(({ paths: own }) => own.test(path)) && !path.startsWith('windows-instance'))
    .map(path => {
      const name = path.slice(path.lastIndexOf('/') + 1).replaceAll(/_|\.exe$/g, '');
      served.set(`/files/${path}`, contentOf(path));
      return { name, ...about, file: `${url}/files/${path}`, files: [{ path, sha256: sum(contentOf(path)) }] };
    });
  const agent = { path: 'windows-instance-config-daemon.exe', sha256: noSum };
  return [...archived, ...single, { name: 'agent', ...about, built: 'agent', files: [agent] }];
}

export const etagOf = (content: Buffer) => `"${sha256(content).slice(0, 16)}"`;

/** As a good server does: with ranges, as long as the file is the same. */
export function serve({ headers }: SeenRequest, answer: Answer, content: Buffer | undefined): void {
  if (content === undefined) {
    answer.writeHead(404).end('no such file');
    return;
  }
  const etag = etagOf(content);
  const [, from] = /^bytes=(\d+)-$/.exec(String(headers['range'] ?? '')) ?? [];
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag;
  if (from === undefined || !isSame) {
    answer.writeHead(200, { etag, 'content-length': content.length }).end(content);
    return;
  }
  if (Number(from) >= content.length) {
    answer.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
    return;
  }
  const rest = content.subarray(Number(from));
  const contentRange = `bytes ${from}-${content.length - 1}/${content.length}`;
  answer.writeHead(206, { etag, 'content-range': contentRange, 'content-length': rest.length }).end(rest);
}
