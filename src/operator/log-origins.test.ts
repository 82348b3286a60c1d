import { expect, test } from 'vitest';
import type { FactsReading } from '#cluster/facts.ts';
import { defaultFacts, fixedFacts } from '../../test/kit/fixed-facts.ts';
import { recordedLog } from '../../test/kit/recorded-log.ts';
import { logOrigins } from './log-origins.ts';

const origins = { apiServerUrl: 'EndpointSlice default/kubernetes, first of 3 addresses' };
const complete: FactsReading = { facts: defaultFacts, findings: [], origins };

/** Runs with the first reading, then changes to each of the others. */
async function run(first: FactsReading, ...others: FactsReading[]) {
  const { log, lines } = recordedLog();
  const facts = fixedFacts();
  let reading = first;
  const stop = new AbortController();
  await logOrigins({ ...facts, read: () => reading }, log).run(stop.signal, () => {
    for (const other of others) {
      reading = other;
      facts.become({});
    }
    stop.abort();
  });
  expect(facts.listeners()).toBe(0);
  return lines;
}

test('logs discovered values and their objects once', async () => {
  expect(await run(complete, complete)).toMatchObject([
    {
      message: 'Discovered cluster',
      fields: {
        apiServerUrl: 'https://api-int.example.com:6443',
        serviceCidr: '172.30.0.0/16',
        clusterDns: '172.30.0.10',
        origins,
      },
    },
  ]);
});

const other = { ...complete, facts: { ...defaultFacts, apiServerUrl: 'https://10.0.0.3:6443' } };
const cases: [name: string, readings: [FactsReading, ...FactsReading[]], count: number][] = [
  ['a changed value', [complete, other], 2],
  ['a changed object', [complete, { ...complete, origins: {} }], 2],
  ['values that are discovered later', [{ facts: undefined, findings: [] }, complete], 1],
  ['no values of OpenShift', [{ facts: defaultFacts, findings: [] }], 0],
];
for (const [name, readings, count] of cases) {
  test(`logs ${name}`, async () => expect(await run(...readings)).toHaveLength(count));
}
