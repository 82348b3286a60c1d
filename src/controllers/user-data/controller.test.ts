import { expect, onTestFinished, test } from 'vitest';
import { textFromBase64, toBase64 } from '#base/bytes.ts';
import { namespaceName, secretName } from '#contract/names.ts';
import { namespaces, secrets } from '#kube/resources.ts';
import { fixedFacts, unknownFacts } from '../../../test/kit/fixed-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { newPrivateKey } from '../../../test/kit/new-private-key.ts';
import { benchNamespace as namespace, sourceBench } from '../../../test/kit/source-bench.ts';
import { permissions, userDataController } from './controller.ts';

const { machineApi, clusterApi } = namespaceName;

function begin(facts = fixedFacts()) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const { api } = bench;
  const controller = userDataController({ ...bench.parts, facts });
  const text = (place: string = machineApi) =>
    textFromBase64(api.peek(secrets, secretName.userData, place)?.data?.['userData'] ?? '');
  const writes = () =>
    api.calls
      .filter(({ verb }) => !['get', 'list'].includes(verb))
      .map(({ verb, namespace: place, name }) => `${verb} ${place}/${name}`);
  const putKey = (pem = newPrivateKey()) =>
    bench.put(secrets, {
      metadata: { name: secretName.privateKey, namespace },
      data: { 'private-key.pem': toBase64(pem) },
    });
  return { ...bench, facts, text, writes, putKey, run: () => bench.start(controller) };
}

test('makes the Secret when there is a key', async () => {
  const { run, putKey, text, writes } = begin();
  await putKey();
  await run();
  expect(text()).toMatch(/^<powershell>.*ssh-ed25519.*<persist>true<\/persist>\n$/s);
  expect(writes()).toEqual([`create ${machineApi}/windows-user-data`]);
});

test('waits for the key without failing, and continues when it comes', async () => {
  const { run, putKey, text, log } = begin();
  await run();
  expect(text()).toBe('');
  expect(log.messages('error')).toEqual([]);
  expect(log.messages('warn')[0]).toContain('cloud-private-key missing');
  await putKey();
  expect(text()).toContain('ssh-ed25519');
});

test('waits for the platform, and continues when it is known', async () => {
  const { run, putKey, text, facts, writes } = begin(unknownFacts());
  await putKey();
  await run();
  expect(writes()).toEqual([]);
  facts.become({ platform: 'GCP' });
  await settle();
  expect(text()).not.toContain('<powershell>');
  expect(text()).toContain('ssh-ed25519');
});

test('SEC-02: builds it again when a user deletes it', async () => {
  const { run, putKey, text, api } = begin();
  await putKey();
  await run();
  const before = text();
  api.remove(secrets, secretName.userData, machineApi);
  await settle();
  expect(text()).toBe(before);
});

const tampered: [name: string, data: Record<string, string>][] = [
  ['another text', { userData: toBase64('invalid data') }],
  ['what is no base64', { userData: 'aW52YWxpZAo%' }],
  ['nothing', {}],
];
for (const [name, data] of tampered) {
  test(`SEC-03: restores the text when it finds ${name}, and keeps what others have put beside it`, async () => {
    const { run, putKey, text, api, writes } = begin();
    await putKey();
    await run();
    const before = text();
    api.put(secrets, {
      metadata: { name: secretName.userData, namespace: machineApi, labels: { team: 'a' } },
      data: { ...data, other: 'eA==' },
    });
    await settle();
    expect(text()).toBe(before);
    expect(api.peek(secrets, secretName.userData, machineApi)).toMatchObject({
      metadata: { labels: { team: 'a' } },
      data: { other: 'eA==' },
    });
    expect(writes().at(-1)).toBe(`patch ${machineApi}/windows-user-data`);
  });
}

test('writes the new key when the key changes', async () => {
  const { run, putKey, text } = begin();
  await putKey();
  await run();
  const before = text();
  await putKey();
  expect(text()).not.toBe(before);
});

test('rests until an unusable key changes, which the controller of the key reports', async () => {
  const { run, putKey, events, clock, log, text } = begin();
  await putKey('planted garbage');
  await run();
  await clock.advance(600_000);
  expect(events).toEqual([]);
  expect(JSON.stringify(log.lines)).not.toContain('planted');
  await putKey();
  expect(text()).toContain('ssh-ed25519');
});

test('SEC-06: uses a weak key, and warns of it', async () => {
  const { generateKeyPairSync } = await import('node:crypto');
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const { run, putKey, text, log } = begin();
  await putKey(weak.privateKey.export({ type: 'pkcs1', format: 'pem' }));
  await run();
  expect(text()).toContain('ssh-rsa');
  expect(log.messages('warn')).toContain('Private key is weak');
});

test('keeps no copy where there is no cluster API', async () => {
  const { run, putKey, text } = begin();
  await putKey();
  await run();
  expect(text(clusterApi)).toBe('');
});

test('SEC-04: keeps a copy where there is one, from the moment it comes', async () => {
  const { run, putKey, api, text } = begin();
  await putKey();
  await run();
  api.put(namespaces, { metadata: { name: clusterApi } });
  await settle();
  expect(text(clusterApi)).toBe(text());
});

test('looks at the copy every half minute, and writes only what differs', async () => {
  const { run, putKey, text, clock, writes, api } = begin();
  await putKey();
  api.put(namespaces, { metadata: { name: clusterApi } });
  await run();
  const before = writes().length;
  await clock.advance(30_000);
  expect(writes()).toHaveLength(before);
  api.put(secrets, { metadata: { name: secretName.userData, namespace: clusterApi }, data: { userData: 'eA==' } });
  await clock.advance(30_000);
  expect(text(clusterApi)).toBe(text());
  api.remove(secrets, secretName.userData, clusterApi);
  await clock.advance(30_000);
  expect(text(clusterApi)).toBe(text());
});

test('warns every ten minutes while it is not allowed to write the copy, and fails at nothing else', async () => {
  const { run, putKey, api, text, clock, log } = begin();
  await putKey();
  api.put(namespaces, { metadata: { name: clusterApi } });
  api.before = ({ namespace: place }) => {
    if (place === clusterApi) throw refused(403, 'Forbidden');
  };
  await run();
  expect(text()).toContain('ssh-ed25519');
  expect(log.messages('error')).toEqual([]);
  const warnings = log.lines.filter(({ level }) => level === 'warn');
  expect(warnings[0]).toMatchObject({ fields: { error: { code: 'USER_DATA_NOT_COPIED' } } });
  await clock.advance(300_000);
  expect(log.messages('warn')).toHaveLength(warnings.length);
  api.before = () => undefined;
  await clock.advance(600_000);
  expect(text(clusterApi)).toBe(text());
});

const races: [name: string, verb: string, code: number, reason: string][] = [
  ['a Secret that came a moment ago', 'create', 409, 'AlreadyExists'],
  ['a Secret that was changed a moment ago', 'patch', 409, 'Conflict'],
  ['a Secret that went a moment ago', 'patch', 404, 'NotFound'],
];
for (const [name, verb, code, reason] of races) {
  test(`is not troubled by ${name}`, async () => {
    const { run, putKey, api, log } = begin();
    await putKey();
    if (verb === 'patch') api.put(secrets, { metadata: { name: secretName.userData, namespace: machineApi } });
    api.before = call => {
      if (call.verb === verb) throw refused(code, reason);
    };
    await run();
    expect(log.messages('error')).toEqual([]);
  });
}

test('retries when it is refused', async () => {
  const { run, putKey, api, clock, text, log } = begin();
  await putKey();
  let isBroken = true;
  api.before = ({ verb }) => {
    if (isBroken && verb === 'create') throw refused(403, 'Forbidden');
  };
  await run();
  expect(log.messages('error')).toContain('Reconcile failed; retrying');
  isBroken = false;
  await clock.advance(60_000);
  expect(text()).toContain('ssh-ed25519');
});

test('asks for no more than the Secrets of its name in the namespaces of others', () => {
  const others = permissions.filter(({ in: place }) => typeof place === 'object');
  for (const { verbs, names } of others) expect(names ?? verbs).toEqual(names ? ['windows-user-data'] : ['create']);
});
