import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '#base/clock.ts';
import { sha256 } from '#base/sha256.ts';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { flipBit, runPayload } from '../../../test/kit/payload-command.ts';
import { etagOf, type Fault, serve, startVendor, type Vendor } from '../../../test/kit/payload-vendor.ts';

/** A minute takes half a second. */
const fast = fastClock(120);
const never = new AbortController().signal;
const overlay = { name: 'hybrid-overlay-node', path: 'hybrid-overlay-node.exe', url: '/files/hybrid-overlay-node.exe' };

function fetchFrom(
  { lock, output }: Vendor,
  words: readonly string[] = [],
  { signal = never, clock = systemClock }: { signal?: AbortSignal; clock?: Clock } = {},
) {
  return runPayload(['fetch', '--lock', lock, '-o', output, ...words], { clock, signal });
}

async function agentFile({ root, programs }: Vendor): Promise<string> {
  const path = join(root, 'agent.exe');
  await writeFile(path, programs.get('windows-instance-config-daemon.exe') ?? '');
  return path;
}

/** Paths below the folder, without what is unfinished. */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

const downloadOf = async (vendor: Vendor, { path } = overlay) => readFile(join(vendor.output, path));

describe('fetch', () => {
  test('downloads every program out of .tar.gz, .zip and .tgz and as files; verify and pack take the folder', async () => {
    const vendor = await startVendor();
    const run = await fetchFrom(vendor, ['--agent', await agentFile(vendor)]);
    expect([run.code, run.err, run.out.split('\n').at(-2)]).toEqual([
      0,
      '',
      `${vendor.output}: 9 sources: 9 downloaded`,
    ]);
    expect((await filesOf(vendor.output)).toSorted()).toEqual([...vendor.programs.keys()].toSorted());
    for (const [path, content] of vendor.programs)
      expect([path, content.equals(await readFile(join(vendor.output, path)))]).toEqual([path, true]);
    expect((await stat(join(vendor.output, overlay.path))).mode & 0o777).toBe(0o644);
    // The lock cannot tell which agent a site has built.
    expect(await runPayload(['verify', vendor.output, '--lock', vendor.lock])).toEqual({
      code: 0,
      out: `${vendor.output}: 13 programs, as in ${vendor.lock}\n`,
      err: expect.stringContaining('windows-instance-config-daemon.exe was not compared') as string,
    });
    await runPayload(['keygen', '-o', join(vendor.root, 'key')]);
    const [packed, key] = [join(vendor.root, 'packed'), join(vendor.root, 'key')];
    const pack = await runPayload([
      'pack',
      vendor.output,
      '--lock',
      vendor.lock,
      '--sign-key',
      `${key}.pem`,
      '-o',
      packed,
    ]);
    expect([pack.code, await runPayload(['verify', packed, '--key', `${key}.pub`])]).toMatchObject([0, { code: 0 }]);
  });

  test('downloads again only what is missing or changed, and finds a single flipped bit', async () => {
    const vendor = await startVendor();
    const agent = await agentFile(vendor);
    await fetchFrom(vendor, ['--agent', agent]);
    const before = vendor.server.seen.length;
    await flipBit(join(vendor.output, 'cni/win-bridge.exe'));
    await rm(join(vendor.output, overlay.path));
    const verified = await runPayload(['verify', vendor.output, '--lock', vendor.lock]);
    expect([verified.code, verified.err]).toEqual([1, expect.stringContaining('win-bridge.exe has SHA-256')]);
    const run = await fetchFrom(vendor, ['--agent', agent]);
    expect([run.code, vendor.server.seen.slice(before).map(({ path }) => path)]).toEqual([
      0,
      ['/releases/cni.tgz', overlay.url],
    ]);
    expect((await runPayload(['verify', vendor.output, '--lock', vendor.lock])).code).toBe(0);
  });

  test('--only downloads some sources; without --agent it says where the agent comes from', async () => {
    const vendor = await startVendor();
    const run = await fetchFrom(vendor, ['--only', 'containerd', overlay.name, '--only', 'agent']);
    expect([run.code, run.out]).toEqual([0, expect.stringContaining('agent: not downloaded: build it')]);
    expect((await filesOf(vendor.output)).map(path => dirname(path)).toSorted()).toEqual([
      '.',
      'containerd',
      'containerd',
    ]);
    const wrong = await fetchFrom(vendor, ['--only', 'container']);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('Did you mean `containerd`?')]);
  });
});

/** What a source of the lock becomes with a server that fails. */
interface FaultCase {
  about: string;
  fault: (content: Buffer, vendor: Vendor) => Fault;
  /** Part of the error; without it the download succeeds. */
  error?: string;
  /** `range` of each request. */
  ranges?: (string | undefined)[];
  /** What can be continued stays when it fails. */
  isKept?: true;
  clock?: Clock;
}

const half = (content: Buffer) => content.subarray(0, content.length >> 1);
const partialOf = ({ output }: Vendor) => join(output, '.downloads', `${overlay.name}.${overlay.path}`);
const storedBytes = async (vendor: Vendor) => (await stat(partialOf(vendor)).catch(() => undefined))?.size;

/** Sends the first half, and cuts the connection when it has arrived. */
const cut =
  (content: Buffer, vendor: Vendor): Fault =>
  (_, answer) => {
    answer.writeHead(200, { etag: etagOf(content), 'content-length': content.length });
    answer.write(half(content));
    void expect
      .poll(() => storedBytes(vendor))
      .toBe(half(content).length)
      .finally(() => answer.destroy());
  };
const firstTime =
  (first: Fault, content: Buffer): Fault =>
  (request, answer, turn) =>
    turn === 1 ? first(request, answer, turn) : serve(request, answer, content);
const status =
  (code: number, headers: Record<string, string> = {}): Fault =>
  (_, answer) =>
    void answer.writeHead(code, headers).end('<html>');

const faults: FaultCase[] = [
  {
    about: 'a cut connection is continued where it stopped',
    fault: (content, vendor) => firstTime(cut(content, vendor), content),
    ranges: [undefined, expect.stringMatching(/^bytes=\d{2,}-$/) as string],
  },
  {
    about: 'a server that ignores the range begins again',
    fault: (content, vendor) => (request, answer, turn) =>
      turn === 1 ? cut(content, vendor)(request, answer, turn) : serve({ ...request, headers: {} }, answer, content),
    ranges: [undefined, expect.stringMatching(/^bytes=\d{2,}-$/) as string],
  },
  {
    about: 'a file that changed meanwhile is downloaded from its start',
    fault: (content, vendor) => firstTime(cut(Buffer.from(content).fill(1, 100), vendor), content),
    ranges: [undefined, expect.stringMatching(/^bytes=\d{2,}-$/) as string],
  },
  {
    about: 'parts of two files, from a server that ignores If-Range, are not put together',
    fault: (content, vendor) => (request, answer, turn) => {
      if (turn === 1) return cut(Buffer.from(content).fill(1, 100), vendor)(request, answer, turn);
      const { 'if-range': _, ...headers } = request.headers;
      return serve({ ...request, headers }, answer, content);
    },
  },
  {
    about: 'parts of two files with a weak ETag are found by the checksum, and the download begins again',
    fault: (content, vendor) => (request, answer, turn) => {
      const writeHead = answer.writeHead.bind(answer);
      answer.writeHead = ((code: number, headers: Record<string, string>) =>
        writeHead(code, { ...headers, etag: 'W/"1"' })) as never;
      if (turn === 1) return cut(Buffer.from(content).fill(1, 100), vendor)(request, answer, turn);
      return serve(request, answer, content);
    },
    ranges: [undefined, expect.stringMatching(/^bytes=\d{2,}-$/) as string, undefined],
  },
  {
    about: 'a range that is not the requested one is not used',
    fault: (content, vendor) => (request, answer, turn) => {
      if (turn === 1) return cut(content, vendor)(request, answer, turn);
      if (turn === 2)
        return void answer
          .writeHead(206, { 'content-range': `bytes 0-${content.length - 1}/${content.length}` })
          .end(content);
      return serve(request, answer, content);
    },
    ranges: [undefined, expect.stringMatching(/^bytes=\d{2,}-$/) as string, undefined],
  },
  {
    about: 'a connection that is cut again and again is given up',
    fault: () => (_, answer) => void answer.destroy(),
    error: 'the connection was cut, 6 times in succession',
  },
  {
    about: 'a server error is retried',
    fault: content => firstTime(status(503), content),
    ranges: [undefined, undefined],
  },
  {
    about: 'a server that is overloaded is asked again when it wants',
    fault: content => firstTime(status(429, { 'retry-after': '7' }), content),
    ranges: [undefined, undefined],
  },
  {
    about: 'a server that wants to wait for long is given up',
    fault: () => status(503, { 'retry-after': '3600' }),
    error: 'the server answered 503, and asks to wait for 3600 s',
    ranges: [undefined],
  },
  {
    about: 'server errors without end are given up',
    fault: () => status(502),
    error: 'the server answered 502, 6 times',
  },
  {
    about: 'a missing file is not retried',
    fault: () => status(404),
    error: '/files/hybrid-overlay-node.exe: the server answered 404',
    ranges: [undefined],
  },
  {
    about: 'wrong bytes are refused at once',
    fault: content => (request, answer) => serve(request, answer, Buffer.from(content).fill(0, 500, 501)),
    error: `/files/hybrid-overlay-node.exe has SHA-256 `,
    ranges: [undefined],
  },
  {
    about: 'a stalled server is left, and the download continued',
    fault: content =>
      firstTime((_, answer) => {
        answer.writeHead(200, { 'content-length': content.length }).write(half(content));
      }, content),
    ranges: [undefined, expect.stringMatching(/^bytes=\d{2,}-$/) as string],
  },
  {
    about: 'a silent server is given up',
    fault: () => () => undefined,
    error: 'the server sends no data, 6 times',
    clock: fastClock(600),
  },
  {
    about: 'a server that sends byte after byte is given up',
    fault: () => (_, answer) => {
      answer.writeHead(200);
      const timer = setInterval(() => answer.write('x'), 20);
      answer.once('close', () => clearInterval(timer));
    },
    error: 'the server sends no data, 6 times',
    isKept: true,
    clock: fastClock(600),
  },
  {
    about: 'a slow server is waited for',
    fault: content => async (_, answer) => {
      answer.writeHead(200, { 'content-length': content.length });
      for (let at = 0; at < content.length; at += 10_000) {
        answer.write(content.subarray(at, at + 10_000));
        await new Promise(resolve => setTimeout(resolve, 5));
      }
      answer.end();
    },
    ranges: [undefined],
  },
  {
    about: 'a redirect is followed',
    fault: (content, { faults }) => {
      faults.set('/elsewhere?signature=1', (request, answer) => serve(request, answer, content));
      return status(302, { location: '/elsewhere?signature=1' });
    },
    ranges: [undefined],
  },
  {
    about: 'a redirect loop ends',
    fault: () => status(301, { location: overlay.url }),
    error: 'more than 10 redirects',
  },
  {
    about: 'a redirect to a file is refused',
    fault: () => status(302, { location: 'file:///etc/passwd' }),
    error: 'which is not an https URL',
  },
  {
    about: 'a redirect to another host without TLS is refused',
    fault: () => status(302, { location: 'http://192.0.2.1/x' }),
    error: 'http://192.0.2.1 is not used without TLS',
  },
  {
    about: 'a size beyond all programs is refused before it is stored',
    fault: () => (_, answer) => {
      answer.writeHead(200, { 'content-length': String(2 ** 40) }).write('x');
    },
    error: 'it has more than 1073741824 bytes',
    ranges: [undefined],
  },
];

describe('with a server that fails', () => {
  for (const { about, fault, error, ranges, isKept, clock = fast } of faults) {
    test(about, async () => {
      const vendor = await startVendor();
      const content = vendor.programs.get(overlay.path) ?? Buffer.alloc(0);
      vendor.faults.set(overlay.url, fault(content, vendor));
      const run = await fetchFrom(vendor, ['--only', overlay.name, 'csi-proxy'], { clock });
      expect([run.code, run.err]).toEqual([error === undefined ? 0 : 1, expect.stringContaining(error ?? '')]);
      if (ranges !== undefined) expect(vendor.seen(overlay.url).map(({ headers }) => headers['range'])).toEqual(ranges);
      const files = (await filesOf(vendor.output)).filter(path => isKept !== true || !path.startsWith('.'));
      // The other source is not affected, and nothing unfinished is left of what cannot be continued.
      expect(files.toSorted()).toEqual(
        ['csi-proxy/csi-proxy.exe', ...(error === undefined ? [overlay.path] : [])].toSorted(),
      );
      if (error === undefined) expect(content.equals(await downloadOf(vendor))).toBe(true);
    });
  }

  test('wrong bytes are named with file, expected and actual checksum', async () => {
    const vendor = await startVendor();
    const wrong = Buffer.from('MZ other');
    vendor.served.set(overlay.url, wrong);
    const run = await fetchFrom(vendor, ['--only', overlay.name]);
    const expected = sha256(vendor.programs.get(overlay.path) ?? '');
    expect(run.err).toContain(
      `PAYLOAD_DOWNLOAD_DIFFERS: ${vendor.server.url}${overlay.url} has SHA-256 ${sha256(wrong)}, but the lock has ${expected}`,
    );
  });

  test('Ctrl-C leaves a download that is continued, and stops the others', async () => {
    const vendor = await startVendor();
    const content = vendor.programs.get(overlay.path) ?? Buffer.alloc(0);
    const stop = new AbortController();
    vendor.faults.set(
      overlay.url,
      firstTime((_, answer) => {
        answer.writeHead(200, { etag: etagOf(content), 'content-length': content.length });
        answer.write(half(content));
      }, content),
    );
    const running = fetchFrom(vendor, ['--only', overlay.name, 'csi-proxy'], { signal: stop.signal });
    await expect.poll(() => storedBytes(vendor)).toBe(half(content).length);
    stop.abort(new Error('SIGINT'));
    const run = await running;
    expect([run.code, run.out]).toEqual([1, expect.stringContaining('2 sources: 2 stopped; run the command again')]);
    expect(await storedBytes(vendor)).toBe(half(content).length);
    expect((await fetchFrom(vendor, ['--only', overlay.name, 'csi-proxy'])).code).toBe(0);
    expect(vendor.seen(overlay.url).at(-1)?.headers['range']).toBe(`bytes=${half(content).length}-`);
    expect(content.equals(await downloadOf(vendor))).toBe(true);
    expect(await filesOf(join(vendor.output, '.downloads'))).toEqual([]);
  });

  test('says in time what it waits for, how much there is, and why it tries again', async () => {
    const vendor = await startVendor();
    const content = vendor.programs.get(overlay.path) ?? Buffer.alloc(0);
    vendor.faults.set(
      overlay.url,
      firstTime((_, answer) => {
        answer.writeHead(200, { 'content-length': content.length }).write(content.subarray(0, 75_000));
      }, content),
    );
    const { err } = await fetchFrom(vendor, ['--only', overlay.name], { clock: fast });
    expect(err).toMatch(/^hybrid-overlay-node: 0\.1 MB of 0\.2 MB \(49%\), \d+\.\d MB\/s$/m);
    expect(err).toMatch(/^hybrid-overlay-node: the server sends no data; next attempt in 1 s$/m);
  });
});
