import { expect, test } from 'vitest';
import { printDesiredServices, servicesHash } from '#contract/services/hash.ts';
import { service } from '#contract/services/manifest.ts';
import { printManifest } from '#contract/services/print.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { type Accepted, acceptedFile, saveAccepted } from '../accepted.ts';
import { appliedServices, chooseContent } from './content.ts';

const dataOf = (command: string) =>
  printManifest({
    services: [service({ name: 'kubelet', command })],
    files: [],
    environment: { HTTP_PROXY: `http://me:password@${command}` },
    watchedEnvironment: ['HTTP_PROXY'],
  });
const [old, now] = [dataOf('old.exe'), dataOf('new.exe')];
const files = 'f'.repeat(32);
const released = (data: Record<string, string>, version = 'v2') =>
  printDesiredServices({ version, hash: servicesHash(data), files });

interface Given {
  found?: Record<string, string>;
  kept?: Omit<Accepted, 'salt'> | string;
  annotation?: string;
}

async function choose({ found, kept, annotation }: Given, host = new ModelHost()) {
  if (found !== undefined) host.configMaps = [{ name: 'windows-services-v2', created: '', data: found }];
  if (typeof kept === 'string') host.fileTexts.set(acceptedFile, kept);
  else if (kept !== undefined) await saveAccepted({ salt: '', ...kept }, host.files);
  return chooseContent('v2', annotation, host);
}

const ofV2 = { version: 'v2', data: old };
const choices: [name: string, given: Given, command: string, applied: string][] = [
  ['the ConfigMap without an annotation', { found: now, kept: ofV2 }, 'new.exe', ''],
  [
    'the ConfigMap with an annotation that cannot be parsed',
    { found: now, kept: ofV2, annotation: 'x' },
    'new.exe',
    '',
  ],
  [
    'the ConfigMap with an annotation of another version',
    { found: now, kept: ofV2, annotation: released(old, 'v3') },
    'new.exe',
    '',
  ],
  ['a ConfigMap that is released', { found: now, kept: ofV2, annotation: released(now) }, 'new.exe', released(now)],
  [
    'what was accepted before a release',
    { found: now, kept: ofV2, annotation: released(old) },
    'old.exe',
    released(old),
  ],
  [
    'what was accepted while another one is released',
    { found: now, kept: ofV2, annotation: released(dataOf('x')) },
    'old.exe',
    '',
  ],
  ['what was accepted without a ConfigMap', { kept: ofV2, annotation: released(old) }, 'old.exe', released(old)],
  ['the ConfigMap when nothing was accepted', { found: now, annotation: released(old) }, 'new.exe', ''],
  [
    'the ConfigMap when another version was accepted',
    { found: now, kept: { version: 'v1', data: old }, annotation: released(old) },
    'new.exe',
    '',
  ],
  ['the ConfigMap when the record is damaged', { found: now, kept: '{"ver', annotation: released(old) }, 'new.exe', ''],
  [
    'the ConfigMap when what was accepted cannot be parsed',
    { found: now, kept: { version: 'v2', data: { services: '[' } }, annotation: released(old) },
    'new.exe',
    '',
  ],
];
test.each(choices)('applies %s', async (_, given, command, applied) => {
  const content = await choose(given);
  expect(content.manifest.services.map(each => each.command)).toEqual([command]);
  expect(appliedServices(content, '')).toBe(applied);
});

test('keeps what it accepts in full, for administrators only, and writes it once', async () => {
  const host = new ModelHost();
  for (const _ of [1, 2]) await choose({ found: now, annotation: released(now) }, host);
  expect(JSON.parse(host.fileTexts.get(acceptedFile) ?? '')).toEqual({ version: 'v2', data: now, salt: '' });
  expect(host.files.accessOf(acceptedFile)).toBe('secret');
  expect(host.log).toEqual([`write ${acceptedFile}`]);
});

test('does not keep what is not released or cannot be parsed', async () => {
  const host = new ModelHost();
  await choose({ found: now }, host);
  await choose({ found: now, annotation: released(old) }, host);
  const invalid = { services: '[' };
  const error = await rejectionOf(choose({ found: invalid, annotation: released(invalid) }, host));
  expect([error?.code, host.fileTexts.has(acceptedFile)]).toEqual(['SERVICES_MALFORMED', false]);
});

test.each([undefined, released(old)])(
  'needs the ConfigMap when nothing was accepted, annotation %j',
  async annotation => {
    const given = annotation === undefined ? {} : { annotation };
    expect(await rejectionOf(choose(given))).toMatchObject({ code: 'OBJECT_MISSING' });
  },
);

test('keeps reporting what is still applied, and nothing that is not', async () => {
  const content = await choose({ found: now, kept: ofV2, annotation: released(now).replace(files, 'e'.repeat(32)) });
  expect(appliedServices(content, released(now))).toBe(released(now).replace(files, 'e'.repeat(32)));
  const before = await choose({ found: now, kept: ofV2, annotation: released(dataOf('x')) });
  expect([released(old), released(now), released(old, 'v1')].map(each => appliedServices(before, each))).toEqual([
    released(old),
    '',
    '',
  ]);
});
