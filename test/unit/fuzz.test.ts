import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { fuzz, slowMs, threadMs } from '../kit/fuzz.ts';
import { fuzzTargets } from '../kit/fuzz-targets.ts';
import { dice, maxInputLength, mutations } from '../kit/mutate.ts';

const inputs = 2000;
const seed = 4711;

for (const target of fuzzTargets) {
  test(`${target.name}: the seed inputs are valid`, () => {
    expect(target.seeds.length).toBeGreaterThan(0);
    expect(target.seeds.filter(input => !target.run(input))).toEqual([]);
  });

  test(`${target.name}: ${inputs} damaged inputs cause only AppErrors, each within ${slowMs} ms`, () => {
    const { crashes, slowest, inputs: tried } = fuzz(target, inputs, seed);
    expect(crashes.map(({ input, error }) => `${inspect(error)} at ${JSON.stringify(input)}`)).toEqual([]);
    expect({ ...slowest, isSlow: slowest.ms > slowMs }).toMatchObject({ isSlow: false });
    expect(tried).toBe(inputs);
  });
}

const nothing = { name: 'x', seeds: ['a'], maxLength: 100 };
const first = (count: number, from: number) =>
  mutations(['{"a":[1,"text"]}', 'other seed'], from).take(count).toArray();

test('generates the same inputs from the same seed, and others from another', () => {
  expect(first(200, 1)).toEqual(first(200, 1));
  expect(first(200, 1)).not.toEqual(first(200, 2));
});

test('generates valid inputs first, and few damaged ones twice', () => {
  const list = first(500, 3);
  expect(list.slice(0, 2)).toEqual(['{"a":[1,"text"]}', 'other seed']);
  expect(new Set(list).size).toBeGreaterThan(400);
});

test('generates some damaged inputs that are still JSON', () => {
  const isJson = (text: string) => {
    try {
      return typeof JSON.parse(text) === 'object';
    } catch {
      return false;
    }
  };
  expect(first(500, 4).filter(isJson).length).toBeGreaterThan(50);
});

test('generates inputs of bounded length, some of them long', () => {
  const lengths = first(3000, 5).map(text => text.length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(maxInputLength);
  expect(Math.max(...lengths)).toBeGreaterThan(10_000);
});

test('random numbers stay below their bound and reach every value', () => {
  const roll = dice(6);
  const faces = Array.from({ length: 1000 }, () => roll(6));
  expect(new Set(faces)).toEqual(new Set([0, 1, 2, 3, 4, 5]));
});

test('finds a crash and a slow input', () => {
  const crash = { ...nothing, run: () => JSON.parse('{') as boolean };
  expect(fuzz(crash, 3, 1).crashes).toHaveLength(3);
  const slow = { ...nothing, run: () => wait(2) };
  expect(fuzz(slow, 2, 1).slowest.ms).toBeGreaterThanOrEqual(2);
});

test('ignores an input that is slow only once', () => {
  let runs = 0;
  const busy = { ...nothing, run: () => (runs++ === 0 ? wait(60) : true) };
  expect(fuzz(busy, 1, 1).slowest.ms).toBeLessThan(slowMs);
});

test('an AppError is a rejection, not a crash', () => {
  const target = fuzzTargets.find(({ name }) => name === 'JSONPath');
  expect([target?.run('{.metadata.name}'), target?.run('{.metadata')]).toEqual([true, false]);
});

function wait(ms: number): boolean {
  for (const end = threadMs() + ms; threadMs() < end; );
  return true;
}
