import { mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ErrorCode } from '#base/error-codes.ts';
import { bundlePath } from '#contract/paths.ts';
import { JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { settle } from '../../../../test/kit/manual-clock.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { image } from '../../../../test/kit/payload-image.ts';
import type { BundleContent } from '../../bundle.ts';
import { type BundleFile, packContent } from '../../bundle.ts';
import { uploadAgent, takeInventory } from './agent-program.ts';
import { connect } from './connect.ts';
import { prepareFiles } from './prepare-files.ts';
import { sendBundle } from './send-bundle.ts';

const path = 'C:\\k\\kubelet.exe';

/** A host with its agent, and a bundle for it: of the files given, or of one. */
async function bench(bytes = 1000, files?: readonly BundleFile[]) {
  const lab = new JourneyBench();
  await lab.take(connect, prepareFiles, uploadAgent, takeInventory);
  const content: BundleContent = {
    version: 'v2',
    // What looks random cannot be packed, so that it is as large as it is.
    files: files ?? [{ path, secret: false, ...(await packContent(randomBytes(bytes))) }],
  };
  const notes: (string | undefined)[] = [];
  const progress: number[] = [];
  const turn = {
    signal: lab.stop.signal,
    note: (text: string | undefined) => void notes.push(text),
    report: ({ bytes: sent }: { bytes: number }) => void progress.push(sent),
    queued: <T>(wait: () => Promise<T>) => wait(),
    hint: () => undefined,
  };
  const prepared = await lab.journey.deps.bundleHashes.prepare(content);
  const before = lab.host.commands.length;
  return {
    lab,
    content,
    prepared,
    notes,
    progress,
    uploads: () => lab.host.uploads.filter(one => one.includes('incoming')),
    verbs: () => lab.host.verbs().slice(before),
    send: (waiting: Record<string, number> = {}) => sendBundle(lab.journey, content, waiting, turn),
  };
}
function randomBytes(length: number): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length }, () => (state = (state * 48_271) % 2_147_483_647) & 255);
}
const fails = (code: ErrorCode) => ({
  exitCode: 1,
  stdout: JSON.stringify({ error: { code, message: 'm', remedy: 'r' } }),
  stderr: '',
});

test('uploads under the hash and has it staged, and nothing of it is left but the file', async () => {
  const { lab, send, prepared, uploads, verbs, progress } = await bench();
  await send();
  expect([uploads(), verbs()]).toEqual([[bundlePath(prepared.sha256)], ['stage']]);
  expect(progress.at(0)).toBe(0);
  expect(progress.at(-1)).toBe(prepared.bytes);
  expect((await lab.host.model.files.stat(path))?.bytes).toBe(1000);
  expect(lab.host.model.fileTexts.has(bundlePath(prepared.sha256))).toBe(false);
});

test('sends nothing again that waits there whole', async () => {
  const { lab, send, prepared, uploads, verbs } = await bench();
  lab.host.model.fileTexts.set(bundlePath(prepared.sha256), Buffer.concat(await Array.fromAsync(prepared.chunks())));
  await send({ [prepared.sha256]: prepared.bytes });
  expect([uploads(), verbs()]).toEqual([[], ['stage']]);
});

test('sends again what waits there with another size', async () => {
  const { send, prepared, uploads } = await bench();
  await send({ [prepared.sha256]: prepared.bytes - 1 });
  expect(uploads()).toHaveLength(1);
});

for (const [where, damage] of [
  ['everywhere', (bytes: Buffer) => bytes.fill('x')],
  ['in its first byte', (bytes: Buffer) => bytes.fill('x', 0, 1)],
  ['in its last byte', (bytes: Buffer) => bytes.fill((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1)],
] as const) {
  test(`sends once more what was damaged ${where} while it waited`, async () => {
    const { lab, send, prepared, uploads, verbs } = await bench();
    const whole = Buffer.concat(await Array.fromAsync(prepared.chunks()));
    lab.host.model.fileTexts.set(bundlePath(prepared.sha256), damage(whole));
    await send({ [prepared.sha256]: prepared.bytes });
    expect([uploads().length, verbs()]).toEqual([1, ['stage', 'stage']]);
  });
}

for (const [how, damage] of [
  ['changed', async (file: string) => writeFile(file, (await readFile(file)).reverse())],
  ['cut', (file: string) => truncate(file, 1)],
  ['deleted', (file: string) => rm(file)],
  ['replaced by a link', (file: string) => rm(file).then(() => symlink('/dev/null', file))],
  ['replaced by a folder', (file: string) => rm(file).then(() => mkdir(file))],
] as const) {
  test(`a program that was ${how} in the payload cache is not installed, and is packed again for the next attempt`, async () => {
    const { open, cacheFolder } = await image();
    const payload = await open();
    const { lab, send } = await bench(0, await payload.files('None'));
    const { sha256: hash } = (await payload.files('None')).find(file => file.path === path) ?? { sha256: '' };
    const [name = ''] = (await readdir(cacheFolder)).filter(each => each.startsWith(hash));
    await damage(join(cacheFolder, name));
    expect(await rejectionOf(send())).toMatchObject({ code: 'PAYLOAD_DAMAGED' });
    expect(await lab.host.model.files.stat(path)).toBeUndefined();
    const next = await bench(0, await payload.files('None'));
    await next.send();
    expect(await next.lab.host.model.files.sha256(path)).toBe(hash);
  });
}

const failures: [string, ErrorCode, waits: boolean, uploads: number][] = [
  ['that is damaged although it was just sent', 'BUNDLE_DAMAGED', false, 1],
  ['that waited and cannot be staged for another reason', 'HOST_FILE_UNUSABLE', true, 0],
];
for (const [name, code, waits, count] of failures) {
  test(`does not send again what ${name}`.replace('what that', 'a bundle that'), async () => {
    const { lab, send, prepared, uploads } = await bench();
    lab.host.faults.exec = command => (command.includes(' stage ') ? fails(code) : undefined);
    expect(await rejectionOf(send(waits ? { [prepared.sha256]: prepared.bytes } : {}))).toMatchObject({ code });
    expect(uploads()).toHaveLength(count);
  });
}

test('a large bundle waits for a place, and reports it; a small one does not', async () => {
  const large = await bench(5 * 1024 * 1024);
  const { uploads: slots } = large.lab.journey.deps.slots;
  const places = await Promise.all(Array.from({ length: 5 }, () => slots.take(large.lab.stop.signal)));
  const sending = large.send();
  await settle();
  expect([slots.waiting, large.notes, large.uploads()]).toEqual([1, ['waiting for uploads of 5 other hosts'], []]);
  places[0]?.[Symbol.dispose]();
  await sending;
  expect([slots.taken, large.uploads().length]).toEqual([4, 1]);

  const small = await bench();
  await Promise.all(Array.from({ length: 5 }, () => small.lab.journey.deps.slots.uploads.take(small.lab.stop.signal)));
  await small.send();
  expect(small.uploads()).toHaveLength(1);
});

test('a place is given back when the upload fails', async () => {
  const { lab, send } = await bench(5 * 1024 * 1024);
  lab.host.faults.upload = () => {
    throw new Error('broken');
  };
  await expect(send()).rejects.toThrow('broken');
  expect(lab.journey.deps.slots.uploads.taken).toBe(0);
});
