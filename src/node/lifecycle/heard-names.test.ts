import { expect, test } from 'vitest';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import { HeardNames } from './heard-names.ts';

const instance: InstanceObject = { metadata: { name: 'win-1' }, spec: { address: '10.0.0.1' } };

test('tells all who listen, in the order in which they began', () => {
  const names = new HeardNames();
  const heard: string[] = [];
  names.onName((from, name) => heard.push(`one: ${from.spec.address} is ${name}`));
  names.onName((_, name) => heard.push(`other: ${name}`));
  names.tell(instance, 'win-1');
  expect(heard).toEqual(['one: 10.0.0.1 is win-1', 'other: win-1']);
});

test('tells nobody who has ended it, and nothing of before', () => {
  const names = new HeardNames();
  const heard: string[] = [];
  names.tell(instance, 'too early');
  const end = names.onName((_, name) => heard.push(name));
  names.tell(instance, 'win-1');
  end();
  end();
  names.tell(instance, 'too late');
  expect(heard).toEqual(['win-1']);
});

test('one function may listen twice, and each ends for itself', () => {
  const names = new HeardNames();
  const heard: string[] = [];
  const listen = (_: InstanceObject, name: string) => heard.push(name);
  const end = names.onName(listen);
  names.onName(listen);
  end();
  names.tell(instance, 'win-1');
  expect(heard).toEqual(['win-1']);
});
