import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { fingerprint, parseAuthorizedKey, printPublicKey } from '#host/keys/public-key.ts';
import { JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { anyKey } from '../../../../test/kit/lifecycle/lab-host.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { connect } from './connect.ts';

/** A host of which another key is pinned than the one that it shows. */
function changedHost() {
  const bench = new JourneyBench();
  const pinned = anyKey();
  bench.journey.deps.hostKeys.find = async () => pinned;
  return { bench, pinned };
}

test('refuses a changed host key, and names both in the error', async () => {
  const { bench, pinned } = changedHost();
  const error = await rejectionOf(bench.take(connect));
  expect(error?.code).toBe('HOST_KEY_CHANGED');
  for (const key of [pinned, bench.host.hostKey]) expect(error?.message).toContain(fingerprint(key));
  expect([bench.records, bench.host.openConnections]).toEqual([[], 0]);
});

test('the remedy for a changed host key is a command that pins the new key', async () => {
  const { bench } = changedHost();
  const remedy = (await rejectionOf(bench.take(connect)))?.remedy ?? '';
  const [, name, namespace, patch = ''] =
    /`kubectl patch windowsinstance (\S+) -n (\S+) --type merge -p '([^']+)'`/.exec(remedy) ?? [];
  expect([name, namespace]).toEqual(['win-5', 'wmco']);
  const { spec } = JSON.parse(patch) as { spec: { hostKey: string } };
  expect(printPublicKey(parseAuthorizedKey(spec.hostKey))).toBe(printPublicKey(bench.host.hostKey));
  expect(remedy).toContain(fingerprint(bench.host.hostKey));
});

test('leaves other failures as they are', async () => {
  const refused = new AppError('HOST_REFUSED_KEY', '10.0.0.5: no', { remedy: 'Give it the key.' });
  const bench = new JourneyBench();
  bench.host.faults.connect = () => {
    throw refused;
  };
  await expect(bench.take(connect)).rejects.toBe(refused);
});

test('records the key of a host that shows one for the first time', async () => {
  const bench = new JourneyBench();
  await bench.take(connect);
  expect(bench.records).toEqual([{ hostKey: printPublicKey(bench.host.hostKey) }]);
});

test('records a key that an administrator or an earlier operator has stored', async () => {
  const bench = new JourneyBench();
  bench.journey.deps.hostKeys.find = async () => bench.host.hostKey;
  await bench.take(connect);
  expect(bench.records).toEqual([{ hostKey: printPublicKey(bench.host.hostKey) }]);
});

test('writes no record when the key is recorded already', async () => {
  const known = new JourneyBench();
  const bench = new JourneyBench({ host: known.host, record: { hostKey: printPublicKey(known.host.hostKey) } });
  await bench.take(connect);
  expect(bench.records).toEqual([]);
});
