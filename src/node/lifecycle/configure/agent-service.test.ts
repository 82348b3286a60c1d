import { expect, test } from 'vitest';
import { type BenchOptions, JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import type { Step } from '../step.ts';
import { uploadAgent, takeInventory } from './agent-program.ts';
import { installAgent, reinstallAgent, rekeyAgent } from './agent-service.ts';
import { connect } from './connect.ts';
import { prepareFiles } from './prepare-files.ts';
import { claimName } from './identify.ts';
import type { ConfigureJourney } from './journey.ts';

const [keyHash, cloudKeyHash] = ['a'.repeat(64), 'b'.repeat(64)];
const recorded = { agent: { keyHash: 'c'.repeat(64), installed: '2026-01-01T00:00:00Z' } };

/** A journey whose agent answers `install` with this. */
async function installing(options: BenchOptions = {}, answer: object = { keyHash }): Promise<JourneyBench> {
  const bench = new JourneyBench(options);
  await bench.take(connect, prepareFiles, uploadAgent, takeInventory, claimName);
  bench.putNode();
  bench.host.faults.answer = (verb, data) => (verb === 'install' ? answer : data);
  return bench;
}

const keys: [string, Step<ConfigureJourney>, BenchOptions, isNew: boolean][] = [
  ['a first installation', installAgent, {}, true],
  ['another installation', installAgent, { record: recorded }, false],
  ['a reconnect', reinstallAgent, { record: recorded }, true],
  ['a reconnect for another version', rekeyAgent, { record: recorded }, true],
];
for (const [name, step, options, isNew] of keys) {
  test(`${name} ${isNew ? 'makes a new key' : 'keeps the key'}, and records its hash`, async () => {
    const bench = await installing(options);
    await bench.take(step);
    const command = bench.host.commands.at(-1) ?? '';
    expect(command).toContain(' install --namespace wmco --node win-5 --cert-duration 24h');
    expect(command.includes(' --new-key')).toBe(isNew);
    expect(command.includes(' --keep-command')).toBe(step === rekeyAgent);
    expect(bench.records.at(-1)).toEqual({
      nodeUID: bench.journey.joinedNode.uid,
      agent: { keyHash, installed: expect.stringMatching(/Z$/) as string },
    });
  });
}

test('on Azure the key of cloud-node-manager is recorded, too', async () => {
  const bench = await installing({ inputs: { platform: 'Azure' } }, { keyHash, cloudKeyHash });
  await bench.take(installAgent);
  expect(bench.host.commands.at(-1)).toContain(' --cloud-node');
  expect(bench.records.at(-1)).toMatchObject({ agent: { keyHash }, cloudNode: { keyHash: cloudKeyHash } });
});

for (const has of [true, false]) {
  test(`a service that is left as it is gets ${has ? 'a' : 'no'} key of cloud-node-manager, ${has ? 'as' : 'since'} it has ${has ? 'one' : 'none'}`, async () => {
    const record = { ...recorded, ...(has && { cloudNode: recorded.agent }) };
    const bench = await installing({ inputs: { platform: 'Azure' }, record }, { keyHash, cloudKeyHash });
    await bench.take(rekeyAgent);
    expect(bench.host.commands.at(-1)?.includes(' --cloud-node')).toBe(has);
    expect(bench.records.at(-1)?.cloudNode?.keyHash).toBe(has ? cloudKeyHash : undefined);
  });
}

const answers: [string, BenchOptions, object, code: string][] = [
  ['without a hash', {}, {}, 'FIELD_INVALID'],
  ['with a hash that is none', {}, { keyHash: 'A'.repeat(64) }, 'AGENT_ANSWER_INVALID'],
  ['with more than a hash', {}, { keyHash: `${keyHash} ` }, 'AGENT_ANSWER_INVALID'],
  ['without the second hash on Azure', { inputs: { platform: 'Azure' } }, { keyHash }, 'FIELD_INVALID'],
];
for (const [name, options, answer, code] of answers) {
  test(`an answer ${name} is refused, and no key recorded`, async () => {
    const bench = await installing(options, answer);
    expect(await rejectionOf(bench.take(installAgent))).toMatchObject({ code });
    expect(bench.records.some(({ agent }) => agent !== undefined)).toBe(false);
  });
}
