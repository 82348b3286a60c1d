import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { refusal, ScriptedApi, type Thing, things } from '../../../test/kit/scripted-api.ts';
import { Informer } from './informer.ts';

type Step =
  | { do: 'put' | 'remove'; name: string }
  | { do: 'fail'; verb: 'list' | 'watch'; code: number }
  | { do: 'end'; how: 'reset' | 'clean' | 500 | 410 | 401 }
  | { do: 'compact' | 'bookmark' | 'cut' | 'late handler' | 'settle' }
  | { do: 'wait'; ms: number };

const names = ['a', 'b', 'c', 'd'];
const codes = [0, 401, 403, 404, 410, 429, 500, 503, 504];
const quiet = ['compact', 'bookmark', 'cut', 'late handler', 'settle'] as const;
const step = fc.oneof(
  { weight: 8, arbitrary: records({ do: ['put', 'remove'], name: names }) },
  { weight: 2, arbitrary: records({ do: ['fail'], verb: ['list', 'watch'], code: codes }) },
  { weight: 3, arbitrary: records({ do: ['end'], how: ['reset', 'clean', 500, 410, 401] }) },
  { weight: 4, arbitrary: records({ do: quiet }) },
  { weight: 3, arbitrary: records({ do: ['wait'], ms: [1, 500, 1500, 20_000, 700_000] }) },
);

/** Every combination of the values given. */
function records(values: Record<string, readonly unknown[]>): fc.Arbitrary<Step> {
  const members = Object.entries(values).map(([name, choices]) => [name, fc.constantFrom(...choices)] as const);
  return fc.record(Object.fromEntries(members)) as unknown as fc.Arbitrary<Step>;
}

const streamings: ScriptedApi['streaming'][] = [
  'offered',
  'ignored',
  'silent',
  'ends early',
  refusal(422),
  refusal(500),
];

/** Checks each thing a handler is told against what it was told before. */
class Witness {
  readonly known = new Map<string, Thing>();
  readonly complaints: string[] = [];

  added(object: Thing): void {
    if (this.known.has(nameOf(object))) this.complaints.push(`${nameOf(object)} added twice`);
    this.known.set(nameOf(object), object);
  }

  updated(old: Thing, object: Thing): void {
    const known = this.known.get(nameOf(object));
    if (known === undefined) this.complaints.push(`${nameOf(object)} updated before it was added`);
    else if (known !== old) this.complaints.push(`${nameOf(object)} updated from a state that was never told`);
    if (old.metadata.uid !== object.metadata.uid) this.complaints.push(`${nameOf(object)} became another object`);
    this.known.set(nameOf(object), object);
  }

  deleted(object: Thing): void {
    if (!this.known.delete(nameOf(object))) this.complaints.push(`${nameOf(object)} deleted although it was not there`);
  }
}

const nameOf = (object: Thing) => object.metadata.name ?? '';
const versions = (objects: Iterable<Thing>) =>
  Object.fromEntries([...objects].map(object => [nameOf(object), object.metadata.resourceVersion]));

function act(api: ScriptedApi, change: Step, informer: Informer<Thing>, witnesses: Witness[]): void {
  switch (change.do) {
    case 'put':
      return api.put(change.name);
    case 'remove':
      return api.remove(change.name);
    case 'fail':
      return api.fail(change.verb, change.code === 0 ? new Error('ECONNRESET') : refusal(change.code));
    case 'end':
      if (change.how === 'clean') return api.endStreams();
      return api.endStreams(change.how === 'reset' ? new Error('ECONNRESET') : refusal(change.how));
    case 'compact':
      return api.compact();
    case 'bookmark':
      return api.bookmark();
    case 'cut':
      return api.cutStreams();
    case 'late handler':
      witnesses.push(new Witness());
      informer.addHandler(witnesses.at(-1) ?? {});
      return;
    case 'settle':
    case 'wait':
  }
}

/**
 * How long to wait after these faults: a cut stream is found out when it is overdue, else there is one wait per fault
 * to come.
 */
function patienceMs(steps: readonly Step[]): number {
  const faults = steps.filter(({ do: done }) => done === 'fail').length;
  return 15_000 * (1 + faults) + (steps.some(({ do: done }) => done === 'cut') ? 700_000 : 0);
}

async function witnessed(steps: readonly Step[], streaming: ScriptedApi['streaming'], random: number): Promise<void> {
  const [api, clock] = [new ScriptedApi(), manualClock()];
  api.streaming = streaming;
  api.put('a');
  const informer = new Informer<Thing>({ client: api, resource: things, clock, random: () => random });
  const witnesses = [new Witness()];
  informer.addHandler(witnesses[0] ?? {});
  informer.start();
  for (const change of steps) {
    act(api, change, informer, witnesses);
    if (change.do === 'settle') await settle();
    if (change.do === 'wait') await clock.advance(change.ms);
  }
  await clock.advance(patienceMs(steps));
  expect(versions(informer.store.list())).toEqual(versions(api.objects.values()));
  for (const witness of witnesses) {
    expect(witness.complaints).toEqual([]);
    expect(versions(witness.known.values())).toEqual(versions(api.objects.values()));
  }
  await informer.stop();
  expect([api.openStreams, clock.sleepers()]).toEqual([0, 0]);
}

test('after any faults the store equals the server, and every handler got a consistent history', async () => {
  const random = fc.double({ min: 0, max: 0.99, noNaN: true });
  const steps = fc.array(step, { maxLength: 40 });
  await fc.assert(fc.asyncProperty(steps, fc.constantFrom(...streamings), random, witnessed), { numRuns: 600 });
});
