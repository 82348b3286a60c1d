import { expect, test } from 'vitest';
import { agentCertificate, agentSubject, hourMs, minuteMs, nodeName } from '../../../test/kit/agent-certificates.ts';
import { showsKey, startMs, storedText } from '../../../test/kit/agent-certificates.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { ModelFiles } from '../../../test/kit/model-files.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { printCertificate } from './certificate.ts';
import { CertificateStore } from './store.ts';

const directory = 'C:\\k\\wicd-certs';
const current = 'wicd-client-current.pem';
const updated = 'wicd-client-updated.pem';
const pathOf = (name: string) => `${directory}\\${name}`;
const datedName = (day: number) => `wicd-client-2026-02-${String(day).padStart(2, '0')}-10-00-00.pem`;
const until = (minutes: number) => storedText({ notAfter: startMs + minutes * minuteMs });

/** A store over files in memory that may be told to fail. */
function storeWith(texts: Record<string, string> = {}) {
  const faults = { before: (_call: string): void => undefined };
  const files = new ModelFiles(
    call => faults.before(call),
    call => faults.before(call),
  );
  for (const [name, text] of Object.entries(texts)) files.texts.set(pathOf(name), text);
  const clock = manualClock(startMs);
  const recorded = recordedLog();
  const open = () => new CertificateStore(directory, { files, clock, log: recorded.log });
  const textOf = (name: string) => files.texts.get(pathOf(name));
  const names = async () => (await files.list(directory)).toSorted();
  return { files, faults, clock, ...recorded, open, store: open(), textOf, names };
}

const loaded = async (given: ReturnType<typeof storeWith>) => {
  const certificate = await given.store.load(nodeName);
  return certificate && printCertificate(certificate);
};

test('finds nothing in a directory that does not exist, and makes nothing', async () => {
  const given = storeWith();
  expect(await loaded(given)).toBeUndefined();
  expect(await given.names()).toEqual([]);
});

test('keeps a certificate under its time and as the current one, for administrators only', async () => {
  const given = storeWith();
  const certificate = agentCertificate();
  await given.store.save(certificate);
  const dated = 'wicd-client-2026-03-01-12-00-00.pem';
  expect(await given.names()).toEqual([dated, current]);
  expect([given.textOf(dated), given.textOf(current)]).toEqual(Array(2).fill(printCertificate(certificate)));
  expect([dated, current].map(name => given.files.accessOf(pathOf(name)))).toEqual(['secret', 'secret']);
  expect(await loaded(given)).toBe(printCertificate(certificate));
});

test('keeps the certificate before, and none older', async () => {
  const given = storeWith();
  for (let turn = 0; turn < 5; turn += 1) {
    await given.store.save(agentCertificate());
    await given.clock.advance(hourMs);
  }
  expect(await given.names()).toEqual([
    'wicd-client-2026-03-01-15-00-00.pem',
    'wicd-client-2026-03-01-16-00-00.pem',
    current,
  ]);
});

test('keeps what it just wrote when the clock was set back', async () => {
  const given = storeWith();
  for (const jumpMs of [0, -hourMs, -hourMs]) {
    given.clock.jump(jumpMs);
    await given.store.save(agentCertificate());
  }
  expect(await given.names()).toEqual([
    'wicd-client-2026-03-01-10-00-00.pem',
    'wicd-client-2026-03-01-12-00-00.pem',
    current,
  ]);
  expect(given.textOf('wicd-client-2026-03-01-10-00-00.pem')).toBe(given.textOf(current));
});

test('two certificates within a second share a name', async () => {
  const given = storeWith();
  await given.store.save(agentCertificate());
  await given.store.save(agentCertificate());
  expect(await given.names()).toHaveLength(2);
  expect(await loaded(given)).toBe(given.textOf(current));
});

test('tells whether the current file is as it should be', async () => {
  const given = storeWith();
  const certificate = agentCertificate();
  expect(await given.store.isIntact(certificate)).toBe(false);
  await given.store.save(certificate);
  expect(await given.store.isIntact(certificate)).toBe(true);
  expect(await given.store.isIntact(agentCertificate())).toBe(false);
  given.files.texts.delete(pathOf(current));
  expect(await given.store.isIntact(certificate)).toBe(false);
});

const [short, middle, long] = [until(10), until(30), until(50)];
const others = [
  storedText(agentSubject('win2')),
  storedText({ commonName: 'system:node:win1' }),
  storedText({ notAfter: startMs }),
  'no certificate at all',
  '',
  long.slice(0, 500),
];

const found: [name: string, texts: Record<string, string>, want: string | undefined][] = [
  ['the current one', { [current]: short }, short],
  ['the current one before a copy of it', { [current]: short, [datedName(1)]: short }, short],
  ['a newer one that did not become current', { [current]: short, [datedName(1)]: long }, long],
  ['the current one though an older copy is there', { [current]: long, [datedName(9)]: short }, long],
  ['one without a current file', { [datedName(1)]: middle, [datedName(2)]: short }, middle],
  ['what the Go agent was about to make current', { [updated]: middle }, middle],
  ['the newest, whatever the names say', { [current]: short, [updated]: middle, [datedName(1)]: long }, long],
  ['a copy when the current file is damaged', { [current]: long.slice(0, 600), [datedName(1)]: short }, short],
  ['a copy when the current file is empty', { [current]: '', [datedName(1)]: short }, short],
  [
    'a copy when the current file has expired',
    { [current]: storedText({ notAfter: startMs }), [datedName(1)]: short },
    short,
  ],
  [
    'a copy when the current file is of another node',
    { [current]: storedText(agentSubject('x')), [datedName(3)]: short },
    short,
  ],
  ['a certificate and key in two files', halves(short), short],
  ['the better one of a pair and a file', { ...halves(long), [current]: short }, long],
  ['nothing in half a pair', { 'wicd-client.crt': short.slice(0, short.indexOf('-----BEGIN EC')) }, undefined],
  ['nothing among files of others', { 'ovnkube-client-current.pem': short, 'x.pem': short }, undefined],
  ...others.map(
    text =>
      ['nothing in what cannot be used', { [current]: text }, undefined] as [string, Record<string, string>, undefined],
  ),
];
for (const [name, texts, want] of found) {
  test(`finds ${name}`, async () => {
    const given = storeWith(texts);
    expect(await loaded(given)).toBe(want);
    if (want === undefined) expect(await given.names()).toEqual(Object.keys(texts).toSorted());
    else expect(given.textOf(current)).toBe(want);
    expect(showsKey(JSON.stringify(given.lines))).toBe(false);
  });
}

function halves(text: string): Record<string, string> {
  const cut = text.indexOf('-----BEGIN EC');
  return { 'wicd-client.crt': text.slice(0, cut), 'wicd-client.key': text.slice(cut) };
}

test('says which file it leaves out', async () => {
  const given = storeWith({ [current]: 'x', [datedName(1)]: short });
  await given.store.load(nodeName);
  expect(given.lines).toMatchObject([
    { level: 'warn', fields: { file: pathOf(current), error: { code: 'AGENT_CERTIFICATE_UNUSABLE' } } },
  ]);
});

test('takes over a directory of the Go agent and deletes what piled up', async () => {
  const days = Array.from({ length: 28 }, (_, index) => index + 1);
  const texts = Object.fromEntries(days.map(day => [datedName(day), until(day)]));
  // Read through the link, its text is that of the newest file.
  const given = storeWith({ ...texts, [current]: until(28), ...halves(short), 'notes.txt': 'mine' });
  given.files.texts.set(pathOf(current), texts[datedName(28)] ?? '');
  expect(await loaded(given)).toBe(texts[datedName(28)]);
  expect(await given.names()).toEqual(['notes.txt', datedName(27), datedName(28), current]);
  expect(given.files.accessOf(pathOf(current))).toBe('secret');
});

test('a link that leads to a file about to be deleted is replaced before', async () => {
  const given = storeWith({ [datedName(1)]: long, [datedName(2)]: short, [datedName(3)]: short });
  const calls: string[] = [];
  given.faults.before = call => void calls.push(call);
  await given.store.load(nodeName);
  expect(calls).toEqual([`write ${pathOf(current)}`, `remove ${pathOf(datedName(2))}`]);
});

test('reads no more than the newest of many copies', async () => {
  const texts = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [datedName(index + 1), short]));
  const given = storeWith({ ...texts, [datedName(1)]: long });
  const read = given.files.read.bind(given.files);
  const seen: string[] = [];
  given.files.read = path => {
    seen.push(path);
    return read(path);
  };
  expect(await loaded(given)).toBe(short);
  expect(seen.filter(path => path.includes('2026'))).toHaveLength(8);
});

test('a file that cannot be read is left out', async () => {
  const given = storeWith({ [current]: long, [datedName(1)]: short });
  const read = given.files.read.bind(given.files);
  given.files.read = path => (path.endsWith(current) ? Promise.reject(new Error('EACCES')) : read(path));
  expect(await loaded(given)).toBe(short);
});

test('a file that cannot be deleted is tried again the next time', async () => {
  const given = storeWith({ [datedName(1)]: short, [datedName(2)]: short, [datedName(3)]: long });
  given.faults.before = call => {
    if (call.startsWith('remove')) throw new Error('EBUSY');
  };
  expect(await loaded(given)).toBe(long);
  expect(given.messages('warn')).toEqual(['Cannot change a certificate file']);
  given.faults.before = () => undefined;
  await given.store.save(agentCertificate());
  expect(await given.names()).toEqual([datedName(3), 'wicd-client-2026-03-01-12-00-00.pem', current]);
});

test('a certificate is used though it cannot be made current, and nothing is deleted then', async () => {
  const texts = { [datedName(1)]: long, [datedName(2)]: short, [datedName(3)]: short };
  const given = storeWith(texts);
  given.faults.before = () => {
    throw new Error('ENOSPC');
  };
  expect(await loaded(given)).toBe(long);
  expect(await given.names()).toEqual(Object.keys(texts));
});

test('a certificate that cannot be written is an error for whoever wants to save it', async () => {
  const given = storeWith();
  given.faults.before = () => {
    throw new Error('ENOSPC');
  };
  await expect(given.store.save(agentCertificate())).rejects.toThrow('ENOSPC');
});
