import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { zstdCompressSync } from 'node:zlib';
import { file } from '#contract/paths.ts';
import { type SimulatedFile, simulatedPayload } from './payload.ts';
import { readStamp } from './stamp.ts';

const programs = [file.kubelet, file.containerd, 'C:\\k\\cni\\win-overlay.exe'];
const options = { version: '11.0.0-1', agent: file.agent, programs };
const allOf = async (each: SimulatedFile) => Buffer.concat(await Array.fromAsync(each.content()));
const all = async (bytes?: number) => {
  const payload = simulatedPayload(bytes === undefined ? options : { ...options, bytes });
  return [await payload.agent(), ...(await payload.files('None'))];
};

test('has the agent and every program, each at its place', async () => {
  expect((await all()).map(({ path }) => path)).toEqual([file.agent, ...programs]);
});

for (const bytes of [0, 1000, 400_000, 3_000_000]) {
  test(`sizes and hashes are true for ${bytes} bytes in all`, async () => {
    for (const each of await all(bytes)) {
      const content = await allOf(each);
      expect([each.bytes, each.packedBytes]).toEqual([content.length, content.length]);
      expect(each.sha256).toBe(createHash('sha256').update(content).digest('hex'));
    }
  });
}

test('is as large as wanted', async () => {
  const total = (await all(4_000_000)).reduce((sum, { bytes }) => sum + bytes, 0);
  expect(total).toBe(4_000_000);
});

test('every program has a stamp with its version', async () => {
  for (const each of await all(10_000)) expect(readStamp(await allOf(each))?.version).toBe('11.0.0-1');
});

test('programs differ from each other, and from those of another version', async () => {
  const other = simulatedPayload({ ...options, version: '11.0.0-2', bytes: 1000 });
  const hashes = [...(await all(1000)), await other.agent(), ...(await other.files('None'))].map(each => each.sha256);
  expect(new Set(hashes).size).toBe(hashes.length);
});

test('a patch release has the programs of the version before, but for the agent and those that it names', async () => {
  const since = { version: options.version, changed: [file.kubelet] };
  const patch = simulatedPayload({ ...options, version: '11.0.0-2', since, bytes: 1000 });
  const hashes = (files: readonly SimulatedFile[]) => files.map(({ path, sha256 }) => [path, sha256]);
  const before = hashes(await all(1000));
  const after = hashes([await patch.agent(), ...(await patch.files('None'))]);
  const same = after.filter((each, at) => each[1] === before[at]?.[1]).map(([path]) => path);
  expect(same).toEqual(programs.filter(path => path !== file.kubelet));
});

test('a program with a defect has another content', async () => {
  const payload = simulatedPayload({ ...options, defects: { [file.kubelet]: 'broken' } });
  const [kubelet, containerd] = await payload.files('None');
  if (kubelet === undefined || containerd === undefined) throw new Error('no files');
  expect(readStamp(await allOf(kubelet))).toEqual({ name: 'kubelet.exe', version: '11.0.0-1', defect: 'broken' });
  expect(readStamp(await allOf(containerd))?.defect).toBeUndefined();
});

test('is the same each time it is made and read', async () => {
  const [one, other] = [await all(100_000), await all(100_000)];
  expect(one.map(each => each.sha256)).toEqual(other.map(each => each.sha256));
  const [first] = one;
  if (first === undefined) throw new Error('no file');
  expect(await allOf(first)).toEqual(await allOf(first));
});

test('cannot be packed smaller', async () => {
  const [agent] = await all(1_000_000);
  if (agent === undefined) throw new Error('no agent');
  const content = await allOf(agent);
  expect(zstdCompressSync(content).length).toBeGreaterThan(content.length * 0.99);
});

test('is made once, however many ask', async () => {
  const payload = simulatedPayload({ ...options, bytes: 100_000 });
  const [one, other] = await Promise.all([payload.files('None'), payload.files('Azure')]);
  expect(one[0]).toBe(other[0]);
});

test('content comes in chunks of a sendable size', async () => {
  const [agent] = await all(4_000_000);
  const pieces = await Array.fromAsync(agent?.packed() ?? []);
  expect(Math.max(...pieces.map(piece => piece.length))).toBeLessThanOrEqual(256 * 1024);
});
