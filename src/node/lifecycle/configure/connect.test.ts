import { expect, test } from 'vitest';
import { findCondition } from '#base/condition.ts';
import { AppError } from '#base/errors.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { type InstanceKey, instanceCondition } from '#contract/windows-instance/resource.ts';
import { parsePrivateKey, type PrivateKey } from '#host/keys/private-key.ts';
import { describeKey, fingerprint, parseAuthorizedKey, printPublicKey, publicKeyHash } from '#host/keys/public-key.ts';
import { JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { anyKey, newKey } from '../../../../test/kit/lifecycle/lab-host.ts';
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
  expect(bench.records).toEqual([{ hostKey: printPublicKey(bench.host.hostKey), key: await acceptedBy(bench) }]);
});

test('records a key that an administrator or an earlier operator has stored', async () => {
  const bench = new JourneyBench();
  bench.journey.deps.hostKeys.find = async () => bench.host.hostKey;
  await bench.take(connect);
  expect(bench.records).toEqual([{ hostKey: printPublicKey(bench.host.hostKey), key: await acceptedBy(bench) }]);
});

test('writes no record when both keys are recorded already', async () => {
  const known = new JourneyBench();
  const key = await acceptedBy(known);
  const bench = new JourneyBench({ host: known.host, record: { hostKey: printPublicKey(known.host.hostKey), key } });
  bench.journey.deps.inputs.loadKeys = (...given) => known.journey.deps.inputs.loadKeys(...given);
  await bench.take(connect);
  expect(bench.records).toEqual([]);
});

/** The record of the only key of the bench. */
async function acceptedBy({ journey: { deps, instance } }: JourneyBench): Promise<InstanceKey> {
  const [key] = await deps.inputs.loadKeys(instance, new AbortController().signal);
  if (key === undefined) throw new Error('no key');
  return { hash: publicKeyHash(key.publicKey), fingerprint: describeKey(key.publicKey) };
}

const made = Array.from({ length: 6 }, () => parsePrivateKey(newKey()));
const hashes = made.map(({ publicKey }) => publicKeyHash(publicKey));
const [a = '', b = '', c = '', d = '', e = ''] = hashes;
const pendingFor = (hash: string) => ({ hash, since: 'x', tried: 'y' });

interface Accepted {
  known?: InstanceKey;
  /** Numbers of keys, the current one first. */
  offered: readonly number[];
  accepts: number;
  authorizes?: boolean;
}

const records: [name: string, scene: Accepted, want: Partial<InstanceKey>][] = [
  ['of a host that was never reached', { offered: [1, 0], accepts: 0 }, { hash: a }],
  ['of a host that accepts the current key', { known: { hash: a }, offered: [1, 0], accepts: 1 }, { hash: b }],
  [
    'of a host that accepts what it waits for',
    { known: { hash: a, pending: pendingFor(b) }, offered: [1, 0], accepts: 1 },
    { hash: b },
  ],
  [
    'of a host that still waits',
    { known: { hash: a, pending: pendingFor(b) }, offered: [1, 0], accepts: 0 },
    { hash: a, pending: pendingFor(b) },
  ],
  [
    'of a host that waits, and accepts another former key',
    { known: { hash: a, pending: pendingFor(b) }, offered: [1, 2, 0], accepts: 2 },
    { hash: c, pending: pendingFor(b) },
  ],
  [
    'with the former key to remove, by the setting',
    { known: { hash: a }, offered: [1, 0], accepts: 1, authorizes: true },
    { hash: b, former: [a] },
  ],
  [
    'without one, when the current key was accepted before',
    { known: { hash: b }, offered: [1, 0], accepts: 1, authorizes: true },
    { hash: b },
  ],
  [
    'without one, when the host accepts a former key',
    { known: { hash: c }, offered: [1, 0], accepts: 0, authorizes: true },
    { hash: a },
  ],
  [
    'with the last three of several rotations',
    { known: { hash: d, former: [a, b, c] }, offered: [4, 3], accepts: 4, authorizes: true },
    { hash: e, former: [b, c, d] },
  ],
  [
    'after going back to a former key',
    { known: { hash: b, former: [a] }, offered: [0, 1], accepts: 0, authorizes: true },
    { hash: a, former: [b] },
  ],
  [
    'with former keys also after the setting ended',
    { known: { hash: b, former: [a] }, offered: [1, 0], accepts: 1 },
    { hash: b, former: [a] },
  ],
];
for (const [name, { known, offered, accepts, authorizes = false }, want] of records) {
  test(`records the accepted key ${name}`, async () => {
    const bench = new JourneyBench({ record: known === undefined ? {} : { key: known } });
    const kept: (readonly [number, InstanceKey | undefined])[] = [];
    Object.assign(bench.journey.deps.inputs, {
      loadKeys: async () => offered.map(at => made[at]),
      keepKey: async (key: PrivateKey) => void kept.push([made.indexOf(key), bench.records[0]?.key]),
      authorizesKeys: authorizes,
    });
    bench.host.accepts = key => publicKeyHash(key) === hashes[accepts];
    await bench.take(connect);
    const fingerprintOf = describeKey(made[accepts]?.publicKey ?? made[0]?.publicKey ?? anyKey());
    expect(bench.journey.record.known.key).toEqual({ ...want, fingerprint: fingerprintOf });
    // It is stored before any record names it.
    expect(kept).toEqual([[accepts, undefined]]);
  });
}

test('without a usable current key, a host goes on to wait for the one before', async () => {
  const [since, tried] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'];
  const known = { hash: a, pending: { hash: b, since, tried } };
  const bench = new JourneyBench({ record: { key: known } });
  const problem = new AppError('PRIVATE_KEY_UNREADABLE', 'no', { remedy: 'x' });
  Object.assign(bench.journey.deps.inputs, {
    loadKeys: async () => [made[0], made[1]],
    keyProblem: () => problem,
    authorizesKeys: true,
  });
  bench.host.accepts = key => publicKeyHash(key) === a;
  await bench.take(connect);
  expect(bench.journey.record.known.key).toMatchObject(known);
  expect([bench.journey.record.known.key?.former, bench.journey.keys?.current]).toEqual([undefined, undefined]);
});

test('ends the condition of a host that rejected the current key, whatever journey connects', async () => {
  for (const [status, want] of [
    ['False', 'True'],
    ['True', 'True'],
    [undefined, undefined],
  ] as const) {
    const type = instanceCondition.keyCurrent;
    const bench = new JourneyBench();
    const conditions = status && [{ type, status, reason: 'x', message: '', lastTransitionTime: '' }];
    const stored = {
      ...bench.journey.instance,
      status: { ...bench.journey.instance.status, ...(conditions && { conditions }) },
    };
    bench.api.put(windowsInstances, stored);
    Object.assign(bench.journey.instance.status ?? {}, conditions && { conditions });
    await bench.take(connect);
    const after = bench.api.peek(windowsInstances, 'win-5', 'wmco')?.status?.conditions;
    expect(findCondition(after, type)?.status).toBe(want);
  }
});
