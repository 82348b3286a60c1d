import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { file } from '#contract/paths.ts';
import { agentCertificate, agentKey, agentSubject, minuteMs, nodeName } from '../../../test/kit/agent-certificates.ts';
import { showsKey, startMs, storedText } from '../../../test/kit/agent-certificates.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { ModelFiles } from '../../../test/kit/model-files.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { printCertificate } from './certificate.ts';
import { agentIdentity, cloudNodeIdentity, type KeptIdentity } from './kept-identity.ts';
import { createKey } from './key.ts';
import { CertificateStore } from './store.ts';

const identity = agentIdentity(nodeName);

/** A store over files in memory, with the key of the host. */
function storeWith(
  text: string | undefined,
  of: KeptIdentity = identity,
  key: string | undefined = agentKey.pem.reveal(),
) {
  const nothing = (): void => undefined;
  const files = new ModelFiles(nothing, nothing);
  if (text !== undefined) files.texts.set(of.certificateFile, text);
  if (key !== undefined) files.texts.set(of.keyFile, key);
  const clock = manualClock(startMs);
  const recorded = recordedLog();
  const store = new CertificateStore(of, { files, clock, log: recorded.log });
  const load = async () => {
    const certificate = await store.load();
    return certificate && printCertificate(certificate);
  };
  return { files, clock, store, load, ...recorded };
}

test('gives undefined for a missing file, without a log line', async () => {
  const { load, lines } = storeWith(undefined);
  expect([await load(), lines]).toEqual([undefined, []]);
});

test('keeps a certificate in its file, for administrators only', async () => {
  const { files, store, load } = storeWith(undefined);
  const certificate = agentCertificate();
  await store.save(certificate);
  expect(files.texts.keys()).toEqual([identity.certificateFile, identity.keyFile]);
  expect(files.accessOf(identity.certificateFile)).toBe('secret');
  expect(await load()).toBe(printCertificate(certificate));
});

const ignored: [name: string, text: string, why: string][] = [
  ['has expired', storedText({ notAfter: startMs - minuteMs }), 'expired at 2026-03-01T11:59:00Z'],
  ['is of another node', storedText(agentSubject('win2')), 'is for "system:wicd-node:win2"'],
  ['is of another group', storedText({ organizations: ['system:masters'] }), 'is for the groups'],
  ['is for another key than the one kept', storedText({}, createKey()), 'is not for the key of this host'],
];
for (const [name, text, why] of ignored) {
  test(`ignores a certificate that ${name}`, async () => {
    const { load, lines, files } = storeWith(text);
    expect(await load()).toBeUndefined();
    expect(lines).toMatchObject([{ level: 'info', fields: { why: expect.stringContaining(why) } }]);
    expect(files.texts.get(identity.certificateFile)).toBe(text);
  });
}

test.each([undefined, 'not a key'])('ignores a certificate when the key of the host is %s', async key => {
  const given = storeWith(storedText());
  if (key === undefined) given.files.texts.delete(identity.keyFile);
  else given.files.texts.set(identity.keyFile, key);
  expect(await given.load()).toBeUndefined();
});

test.each(['', 'x', storedText().slice(0, 500), '\0'.repeat(1500)])('ignores a damaged file: %j', async text => {
  const { load, messages, lines } = storeWith(text);
  expect(await load()).toBeUndefined();
  expect(messages('warn')).toEqual(['Ignoring invalid certificate file']);
  expect(showsKey(inspect(lines, { depth: 9 }))).toBe(false);
});

test('reports whether the file contains a certificate', async () => {
  const { files, store } = storeWith(undefined);
  const certificate = agentCertificate();
  expect(await store.isIntact(certificate)).toBe(false);
  await store.save(certificate);
  expect(await store.isIntact(certificate)).toBe(true);
  expect(await store.isIntact(agentCertificate())).toBe(false);
  files.texts.delete(identity.certificateFile);
  expect(await store.isIntact(certificate)).toBe(false);
});

test('keeps the certificate of cloud-node-manager in its own file, with its own key', async () => {
  const of = cloudNodeIdentity(nodeName);
  const subject = { commonName: 'system:wicd-cloud-node:win1', organizations: ['system:wicd-cloud-nodes'] };
  const text = storedText(subject);
  expect(await storeWith(text, of).load()).toBe(text);
  expect(await storeWith(storedText(), of).load()).toBeUndefined();
  expect(of).toMatchObject({ certificateFile: file.cloudNodeCertificate, keyFile: file.cloudNodeKey });
});
