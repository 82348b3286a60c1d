import { expect, test } from 'vitest';
import { Mishaps } from './mishaps.ts';

test('without injected failures none happens', () => {
  const mishaps = new Mishaps([]);
  expect([mishaps.onVerb('bootstrap'), mishaps.onUpload(1e9)]).toEqual([undefined, undefined]);
});

test('happens the given number of times, only for that verb', () => {
  const mishaps = new Mishaps([{ kind: 'hang', on: 'bootstrap', times: 2 }]);
  const seen = ['inventory', 'bootstrap', 'stage', 'bootstrap', 'bootstrap'].map(verb => mishaps.onVerb(verb));
  expect(seen).toEqual([undefined, 'hang', undefined, 'hang', undefined]);
});

test('several failures of one verb happen in order', () => {
  const mishaps = new Mishaps([
    { kind: 'drop', on: 'stage', times: 1 },
    { kind: 'power cut', on: 'stage', times: 1 },
  ]);
  expect([1, 2, 3].map(() => mishaps.onVerb('stage'))).toEqual(['drop', 'power cut', undefined]);
});

test('an upload breaks after the given number of bytes', () => {
  const mishaps = new Mishaps([{ kind: 'drop', on: 'upload', times: 1, afterBytes: 1000 }]);
  expect([400, 400, 200, 1, 5000].map(bytes => mishaps.onUpload(bytes))).toEqual([
    undefined,
    undefined,
    undefined,
    'drop',
    undefined,
  ]);
});

test('the next upload is counted from its own beginning', () => {
  const mishaps = new Mishaps([{ kind: 'drop', on: 'upload', times: 2, afterBytes: 100 }]);
  expect([101, 100, 1].map(bytes => mishaps.onUpload(bytes))).toEqual(['drop', undefined, 'drop']);
});

test('without a number of bytes the first byte is enough', () => {
  const mishaps = new Mishaps([{ kind: 'power cut', on: 'upload', times: 1 }]);
  expect(mishaps.onUpload(1)).toBe('power cut');
});

test('uploads and verbs are counted separately', () => {
  const mishaps = new Mishaps([{ kind: 'hang', on: 'stage', times: 1 }]);
  expect(mishaps.onUpload(1)).toBeUndefined();
  expect(mishaps.onVerb('stage')).toBe('hang');
});

test('two hosts count their failures separately', () => {
  const plan = [{ kind: 'hang', on: 'stage', times: 1 }] as const;
  const [one, other] = [new Mishaps(plan), new Mishaps(plan)];
  expect([one.onVerb('stage'), other.onVerb('stage'), one.onVerb('stage')]).toEqual(['hang', 'hang', undefined]);
});
