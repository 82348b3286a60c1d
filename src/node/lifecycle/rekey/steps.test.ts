import { expect, test } from 'vitest';
import { timestamp } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { instanceAnnotation, nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { authorizedKeysFile } from '#contract/paths.ts';
import type { InstanceKey, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { printPublicKey, publicKeyHash } from '#host/keys/public-key.ts';
import { openUsername } from '#host/keys/username-seal.ts';
import { type Node, nodes } from '#kube/resources.ts';
import { documentedSteps, stepRows } from '../../../../test/kit/lifecycle/documented-steps.ts';
import { JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { LabHost, newKey } from '../../../../test/kit/lifecycle/lab-host.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { RekeyJourney } from './journey.ts';
import { rekey, rekeySteps } from './steps.ts';

const [first, second, third] = [1, 2, 3].map(() => {
  const key = parsePrivateKey(newKey());
  return { key, hash: publicKeyHash(key.publicKey), line: printPublicKey(key.publicKey) };
}) as [Made, Made, Made];
const all = [first, second, third];
interface Made {
  key: ReturnType<typeof parsePrivateKey>;
  hash: string;
  line: string;
}
const foreign = `# of a colleague\nssh-ed25519 ${Buffer.from(parsePrivateKey(newKey()).publicKey.blob).toString('base64')} colleague`;

interface Scene {
  /** Those that the host accepts. */
  authorized: readonly Made[];
  /** The current key first. */
  offered: readonly Made[];
  key?: InstanceKey;
  authorizes?: boolean;
  retry?: string;
  host?: LabHost;
  status?: WindowsInstanceStatus;
  annotations?: Record<string, string>;
}

function begin({
  authorized,
  offered,
  key,
  authorizes = false,
  retry,
  host = new LabHost('10.0.0.5'),
  ...more
}: Scene) {
  const record = {
    host: { name: 'win-5', addresses: ['10.0.0.5'] },
    version: 'v2',
    ...(key && { key }),
    ...more.status,
  };
  const bench = new JourneyBench({ host, record });
  if (!host.model.fileTexts.has(authorizedKeysFile)) authorize(host, authorized);
  bench.putNode({
    metadata: { name: 'win-5', labels: { [nodeLabel.os]: 'windows' }, annotations: more.annotations ?? {} },
  });
  const { deps, record: journeyRecord } = bench.journey;
  const { instance } = bench.journey;
  if (retry !== undefined) instance.metadata.annotations = { [instanceAnnotation.retry]: retry };
  const kept: number[] = [];
  Object.assign(deps.inputs, {
    loadKeys: async () => offered.map(each => each.key),
    keepKey: async (each: Made['key']) => void kept.push(1 + all.findIndex(one => one.key === each)),
    authorizesKeys: authorizes,
  });
  const journey = new RekeyJourney(instance, deps, journeyRecord);
  const run = async () => {
    const { clock, metrics, stop } = bench;
    const { journal } = journeyRecord;
    await using _journey = journey;
    await rekey(journey, { journal, clock, metrics, log: bench.logged.log, signal: stop.signal });
  };
  const stored = () => bench.api.peek(windowsInstances, 'win-5', 'wmco')?.status;
  const annotations = () => (bench.api.peek(nodes, 'win-5') as Node).metadata.annotations ?? {};
  return { bench, host, journey, run, stored, annotations, kept, known: () => journeyRecord.known.key };
}

function authorize({ model }: LabHost, keys: readonly Made[]): void {
  const text = [foreign, ...keys.map(({ line }) => line), ''].join('\n');
  model.files.texts.set(authorizedKeysFile, text);
}

const linesOn = ({ model }: LabHost) =>
  (model.fileTexts.get(authorizedKeysFile) ?? '')
    .trim()
    .split('\n')
    .filter(line => !foreign.includes(line));

test('docs/lifecycle.md has the steps in their order, with what they do, their times and codes', () => {
  expect(documentedSteps('rekey')).toEqual(stepRows(rekeySteps));
});

test('a host that accepts the current key has it in its record and on its Node', async () => {
  const { run, known, annotations, journey, kept, host } = begin({
    authorized: [first, second],
    offered: [second, first],
    key: { hash: first.hash },
  });
  await run();
  expect(known()).toMatchObject({ hash: second.hash });
  expect([known()?.pending, known()?.former, journey.wait]).toEqual([undefined, undefined, undefined]);
  expect(annotations()[nodeAnnotation.pubKeyHash]).toBe(second.hash);
  expect(openUsername(annotations()[nodeAnnotation.username] ?? '', second.key.pem.reveal())).toBe('Administrator');
  expect([kept, linesOn(host), host.openConnections]).toEqual([[2], [first.line, second.line], 0]);
});

test('a host that rejects the current key keeps the former one: both are stored, and the error has the line to add', async () => {
  const { run, known, annotations, journey, kept, host, stored } = begin({
    authorized: [first],
    offered: [second, first],
    key: { hash: first.hash },
    retry: 'now',
  });
  await run();
  expect(known()).toMatchObject({ hash: first.hash, pending: { hash: second.hash, retry: 'now' } });
  expect(known()?.pending?.since).toBe(known()?.pending?.tried);
  expect(stored()?.key).toEqual(known());
  expect(journey.wait).toMatchObject({
    code: 'HOST_KEY_OUTDATED',
    remedy: expect.stringContaining(second.line) as string,
  });
  expect([kept, annotations()[nodeAnnotation.pubKeyHash]]).toEqual([[1, 2], second.hash]);
  expect([linesOn(host), host.commands]).toEqual([[first.line], []]);
});

const earlier = timestamp(Date.now() - 3_600_000);
const waits: [name: string, pending: InstanceKey['pending'], isSame: boolean][] = [
  ['since then when it is the same key', { hash: second.hash, since: earlier, tried: earlier }, true],
  ['anew for another key', { hash: third.hash, since: earlier, tried: earlier }, false],
];
for (const [name, pending, isSame] of waits) {
  test(`a host that rejects the current key again waits ${name}`, async () => {
    const key = { hash: first.hash, ...(pending && { pending }) };
    const { run, known } = begin({ authorized: [first], offered: [second, first], key });
    await run();
    expect(known()?.pending?.since === earlier).toBe(isSame);
    expect(known()?.pending).toMatchObject({ hash: second.hash, tried: expect.not.stringMatching(earlier) as string });
  });
}

test('a wait ends when the host accepts the key, or when the administrator goes back to the one that it has', async () => {
  const pending = { hash: second.hash, since: earlier, tried: earlier };
  for (const [authorized, offered, want] of [
    [[second], [second, first], second],
    [[first], [first, second], first],
  ] as const) {
    const { run, known, stored, journey } = begin({ authorized, offered, key: { hash: first.hash, pending } });
    await run();
    expect([known()?.hash, known()?.pending, journey.wait]).toEqual([want.hash, undefined, undefined]);
    expect(stored()?.key?.hash).toBe(want.hash);
  }
});

test('a host whose Node alone has to be marked is not connected to', async () => {
  const { run, host, annotations } = begin({ authorized: [first], offered: [first], key: { hash: first.hash } });
  await run();
  expect([host.connectionCount, annotations()[nodeAnnotation.pubKeyHash]]).toEqual([0, first.hash]);
});

const marks: [name: string, username: string, writes: number][] = [
  ['is not written again', 'sealed', 0],
  ['is written without the user name', '', 1],
];
for (const [name, username, writes] of marks) {
  test(`a Node with the hash of the current key ${name}`, async () => {
    const annotations = { [nodeAnnotation.pubKeyHash]: first.hash, [nodeAnnotation.username]: username };
    const { run, bench } = begin({ authorized: [first], offered: [first], key: { hash: first.hash }, annotations });
    await run();
    expect(bench.api.calls.filter(({ verb, resource }) => verb === 'patch' && resource === 'nodes')).toHaveLength(
      writes,
    );
  });
}

test('by the setting the current key is added, and then the former one removed; other lines stay', async () => {
  const { run, host, known, journey } = begin({
    authorized: [first],
    offered: [second, first],
    key: { hash: first.hash },
    authorizes: true,
  });
  await run();
  expect([linesOn(host), journey.wait]).toEqual([[second.line], undefined]);
  expect(known()).toMatchObject({ hash: second.hash });
  expect(known()?.former).toBeUndefined();
  expect(host.model.fileTexts.get(authorizedKeysFile)).toContain(foreign);
});

test('by the setting a former key is removed also where an administrator has added the current one', async () => {
  const { run, host, known } = begin({
    authorized: [first, second],
    offered: [second, first],
    key: { hash: first.hash },
    authorizes: true,
  });
  await run();
  expect([linesOn(host), known()?.former]).toEqual([[second.line], undefined]);
});

test('a former key that is in no Secret any more stays on the host, which is logged', async () => {
  const { run, host, known, bench } = begin({
    authorized: [first, second],
    offered: [second],
    key: { hash: second.hash, former: [first.hash] },
    authorizes: true,
  });
  await run();
  expect([linesOn(host), known()?.former]).toEqual([[first.line, second.line], undefined]);
  expect(bench.logged.messages('warn')).toContain(
    'A former key is not known any more, and stays authorized on the host',
  );
});

test('with the setting, no key is lost when the operator dies before or after any command', async () => {
  let [isOver, deaths] = [false, 0];
  for (let count = 0; !isOver; count += 1) {
    for (const isAfter of [false, true]) {
      const host = new LabHost('10.0.0.5');
      authorize(host, [first]);
      const scene = { authorized: [], offered: [second, first], authorizes: true, host };
      let left = count;
      const dying = begin({ ...scene, key: { hash: first.hash } });
      host.faults.exec = command => {
        left -= 1;
        if (left !== -1) return undefined;
        if (!isAfter) throw new Error('killed');
        host.faults.exec = () => undefined;
        return host.run(command).then(() => Promise.reject(new Error('killed')));
      };
      isOver =
        (await dying.run().then(
          () => true,
          () => false,
        )) || count > 20;
      host.faults = {};
      deaths += isOver ? 0 : 1;
      const status = dying.stored();
      const next = begin({ ...scene, ...(status?.key && { key: status.key }) });
      await next.run();
      expect([count, isAfter, linesOn(host), next.known()?.hash]).toEqual([count, isAfter, [second.line], second.hash]);
    }
    expect(count).toBeLessThan(20);
  }
  expect(deaths).toBeGreaterThan(3);
});

test('with the setting, a key that is replaced before the host was seen to accept it is removed, too', async () => {
  const host = new LabHost('10.0.0.5');
  authorize(host, [first]);
  const dying = begin({ authorized: [], offered: [second, first], authorizes: true, host, key: { hash: first.hash } });
  host.faults.exec = command => {
    if (!command.includes('authorize-key')) return undefined;
    host.faults.exec = () => undefined;
    return host.run(command).then(() => Promise.reject(new Error('killed')));
  };
  await expect(dying.run()).rejects.toThrow();
  host.faults = {};
  expect([linesOn(host), dying.kept]).toEqual([
    [second.line, first.line],
    [1, 2],
  ]);
  const key = dying.stored()?.key;
  const next = begin({ authorized: [], offered: [third, first, second], authorizes: true, host, ...(key && { key }) });
  await next.run();
  expect([linesOn(host), next.known()?.hash, next.known()?.former]).toEqual([[third.line], third.hash, undefined]);
});

test('a key that is replaced while the host is reached is neither added there nor waited for', async () => {
  for (const isAuthorized of [true, false]) {
    const authorized = isAuthorized ? [first, third] : [first];
    const { run, host, known, journey } = begin({
      authorized,
      offered: [third, first],
      key: { hash: first.hash },
      authorizes: true,
    });
    const { inputs } = journey.deps;
    let isFirst = true;
    inputs.loadKeys = async () => {
      const newest = isFirst ? second : third;
      isFirst = false;
      return [newest.key, first.key];
    };
    await run();
    expect([linesOn(host), known()?.hash, known()?.pending]).toEqual([[third.line], third.hash, undefined]);
  }
});

test('a journey that begins when the Secret has no usable key any more marks no Node', async () => {
  const { run, journey, annotations, host } = begin({
    authorized: [first],
    offered: [first],
    key: { hash: first.hash },
  });
  const problem = new AppError('PRIVATE_KEY_UNREADABLE', 'no', { remedy: 'x' });
  journey.deps.inputs.keyProblem = () => problem;
  expect((await rejectionOf(run()))?.code).toBe('PRIVATE_KEY_UNREADABLE');
  expect([annotations(), host.connectionCount]).toEqual([{}, 0]);
});

test('a host that is told to accept the key, and does not, waits like others', async () => {
  const { run, host, known, journey } = begin({
    authorized: [first],
    offered: [second, first],
    key: { hash: first.hash },
    authorizes: true,
  });
  // As where sshd looks for keys elsewhere.
  host.accepts = key => publicKeyHash(key) === first.hash;
  await run();
  expect(known()).toMatchObject({ hash: first.hash, pending: { hash: second.hash } });
  expect(journey.wait?.code).toBe('HOST_KEY_OUTDATED');
});

test('a host that accepts no key fails with the error of the connection, and its record stays', async () => {
  const { run, known, host } = begin({ authorized: [third], offered: [second, first], key: { hash: first.hash } });
  expect((await rejectionOf(run()))?.code).toBe('HOST_REFUSED_KEY');
  expect([known(), host.openConnections]).toEqual([{ hash: first.hash }, 0]);
});
