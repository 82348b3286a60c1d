import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { fuzz, slowMs, threadMs } from '../kit/fuzz.ts';
import { fuzzTargets } from '../kit/fuzz-targets.ts';
import { dice, maxInputLength, mutations } from '../kit/mutate.ts';

const inputs = 2000;
const seed = 4711;

for (const target of fuzzTargets) {
  test(`${target.name}: the inputs to begin with are valid`, () => {
    expect(target.seeds.length).toBeGreaterThan(0);
    expect(target.seeds.filter(input => !target.run(input))).toEqual([]);
  });

  test(`${target.name}: ${inputs} damaged inputs give errors meant for users, each within ${slowMs} ms`, () => {
    const { crashes, slowest, inputs: tried } = fuzz(target, inputs, seed);
    expect(crashes.map(({ input, error }) => `${inspect(error)} at ${JSON.stringify(input)}`)).toEqual([]);
    expect({ ...slowest, isSlow: slowest.ms > slowMs }).toMatchObject({ isSlow: false });
    expect(tried).toBe(inputs);
  });
}

const nothing = { name: 'x', seeds: ['a'], maxLength: 100 };
const first = (count: number, from: number) =>
  mutations(['{"a":[1,"text"]}', 'other seed'], from).take(count).toArray();

test('the same seed gives the same inputs, another seed gives others', () => {
  expect(first(200, 1)).toEqual(first(200, 1));
  expect(first(200, 1)).not.toEqual(first(200, 2));
});

test('valid inputs come first, and hardly any damaged one comes twice', () => {
  const list = first(500, 3);
  expect(list.slice(0, 2)).toEqual(['{"a":[1,"text"]}', 'other seed']);
  expect(new Set(list).size).toBeGreaterThan(400);
});

test('some damaged inputs are still JSON, so that what follows the parser is reached as well', () => {
  const isJson = (text: string) => {
    try {
      return typeof JSON.parse(text) === 'object';
    } catch {
      return false;
    }
  };
  expect(first(500, 4).filter(isJson).length).toBeGreaterThan(50);
});

test('inputs have a bound in length and are sometimes long', () => {
  const lengths = first(3000, 5).map(text => text.length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(maxInputLength);
  expect(Math.max(...lengths)).toBeGreaterThan(10_000);
});

test('dice stay below their bound and show every face', () => {
  const roll = dice(6);
  const faces = Array.from({ length: 1000 }, () => roll(6));
  expect(new Set(faces)).toEqual(new Set([0, 1, 2, 3, 4, 5]));
});

test('a crash and a slow input are found', () => {
  const crash = { ...nothing, run: () => JSON.parse('{') as boolean };
  expect(fuzz(crash, 3, 1).crashes).toHaveLength(3);
  const slow = { ...nothing, run: () => wait(2) };
  expect(fuzz(slow, 2, 1).slowest.ms).toBeGreaterThanOrEqual(2);
});

test('an input that is slow only once is not held against the parser', () => {
  let runs = 0;
  const busy = { ...nothing, run: () => (runs++ === 0 ? wait(60) : true) };
  expect(fuzz(busy, 1, 1).slowest.ms).toBeLessThan(slowMs);
});

test('an error meant for users is a refusal and no crash', () => {
  const target = fuzzTargets.find(({ name }) => name === 'JSONPath');
  expect([target?.run('{.metadata.name}'), target?.run('{.metadata')]).toEqual([true, false]);
});

function wait(ms: number): boolean {
  for (const end = threadMs() + ms; threadMs() < end; );
  return true;
}
