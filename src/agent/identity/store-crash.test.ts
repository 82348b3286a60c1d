import { expect, test } from 'vitest';
import { minuteMs, nodeName, startMs, storedText } from '../../../test/kit/agent-certificates.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { ModelFiles } from '../../../test/kit/model-files.ts';
import { silentLog } from '#base/log.ts';
import { printCertificate, readCertificate } from './certificate.ts';
import { CertificateStore, type StorePorts } from './store.ts';

const directory = 'C:\\k\\wicd-certs';
const current = 'wicd-client-current.pem';
const updated = 'wicd-client-updated.pem';
const pathOf = (name: string) => `${directory}\\${name}`;
const datedName = (day: number) => `wicd-client-2026-02-0${day}-10-00-00.pem`;
const until = (minutes: number) => storedText({ notAfter: startMs + minutes * minuteMs });
const clock = manualClock(startMs);
const nothing = () => undefined;

const [short, middle] = [until(10), until(20)];
/** Renewals, one after the other. */
const renewals = [until(30), until(40), until(50)];
const cut = short.indexOf('-----BEGIN EC');

const beginnings: [name: string, texts: Record<string, string>][] = [
  ['an empty directory', {}],
  ['a directory of ours', { [datedName(1)]: short, [datedName(2)]: middle, [current]: middle }],
  ['the middle of a replacement by the Go agent', { [datedName(1)]: short, [datedName(2)]: middle, [updated]: middle }],
  [
    'a pair and many copies',
    {
      'wicd-client.crt': short.slice(0, cut),
      'wicd-client.key': short.slice(cut),
      [datedName(1)]: short,
      [datedName(2)]: short,
      [datedName(3)]: middle,
      [datedName(4)]: short,
    },
  ],
];

/** Files of which nothing works any more after a number of changes: the process was killed before or after the last one. */
function dying(files: ModelFiles, steps: number, moment: 'before' | 'after') {
  let left = steps;
  const state = { isDead: false };
  const alive = () => {
    if (state.isDead) throw new Error('killed');
  };
  const change = async (act: () => Promise<void>) => {
    alive();
    state.isDead = left === 0;
    left -= 1;
    if (moment === 'before') alive();
    await act();
    alive();
  };
  const ports: StorePorts['files'] = {
    read: async path => {
      alive();
      return files.read(path);
    },
    list: async path => {
      alive();
      return files.list(path);
    },
    write: (path, text, access) => change(() => files.write(path, text, access)),
    remove: path => change(() => files.remove(path)),
  };
  return { ports, state };
}

const openStore = (files: StorePorts['files']) => new CertificateStore(directory, { files, clock, log: silentLog });

async function work(store: CertificateStore): Promise<void> {
  await store.load(nodeName);
  for (const text of renewals) {
    await clock.advance(1000);
    await store.save(readCertificate(text, 'renewal'));
  }
}

for (const [name, texts] of beginnings) {
  for (const moment of ['before', 'after'] as const) {
    test(`being killed ${moment} any change loses no certificate: ${name}`, async () => {
      let [steps, isFinished] = [0, false];
      for (; !isFinished; steps += 1) {
        const files = new ModelFiles(nothing, nothing);
        for (const [file, text] of Object.entries(texts)) files.texts.set(pathOf(file), text);
        const { ports, state } = dying(files, steps, moment);
        await work(openStore(ports)).catch(nothing);
        isFinished = !state.isDead;
        await expectWhole(files, texts[datedName(1)] === undefined ? undefined : middle);
      }
      expect(steps).toBeGreaterThan(7);
    });
  }
}

/** The best certificate on the disk is found, it is current, and the next renewal leaves nothing superfluous. */
async function expectWhole(files: ModelFiles, atLeast: string | undefined): Promise<void> {
  const onDisk = files.texts.keys().map(path => files.texts.get(path));
  const best = renewals.findLast(text => onDisk.includes(text)) ?? atLeast;
  const found = await openStore(files).load(nodeName);
  expect(found && printCertificate(found)).toBe(best);
  if (best !== undefined) expect(files.texts.get(pathOf(current))).toBe(best);
  await clock.advance(1000);
  await openStore(files).save(readCertificate(until(59), 'next'));
  const names = await files.list(directory);
  expect(names.filter(name => /\d/.test(name)).length).toBeLessThanOrEqual(2);
  expect(names.filter(name => !/\d/.test(name))).toEqual([current]);
}
