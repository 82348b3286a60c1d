import { expect, test } from 'vitest';
import { MemoryRegistry } from '../../../../test/kit/memory-registry.ts';
import { errorOf } from '../../../../test/kit/outcome.ts';
import { readVariables, writeVariables } from './service-variables.ts';

const key = 'SYSTEM\\CurrentControlSet\\Services\\kubelet';
const registryWith = (value?: string | number | string[]) =>
  new MemoryRegistry({ [key]: value === undefined ? {} : { Environment: value } });

const values: [name: string, value: string | number | string[] | undefined, want: unknown][] = [
  ['no value as no variables', undefined, {}],
  ['variables', ['A=1', 'b=x=y', 'C='], { A: '1', b: 'x=y', C: '' }],
  ['a value of another kind as unreadable', 'A=1', undefined],
  ['a line without a name as unreadable', ['=C:=C:\\', 'A=1'], undefined],
  ['a line without a value as unreadable', ['A'], undefined],
  ['a variable that is set twice as unreadable', ['A=1', 'a=2'], undefined],
];
test.each(values)('reads %s', (_, value, want) => {
  expect(readVariables(registryWith(value), 'kubelet')).toEqual(want);
});

test('writes variables, and removes the value with the last', () => {
  const registry = registryWith();
  writeVariables(registry, 'kubelet', { A: '1', B: '' });
  expect(registry.keys[key]).toEqual({ Environment: ['A=1', 'B='] });
  writeVariables(registry, 'kubelet', {});
  expect(registry.keys[key]).toEqual({});
});

test('rejects what Windows would cut, without showing it', () => {
  const registry = registryWith();
  const invalid: Record<string, string>[] = [{ 'A=B': '1' }, { '': '1' }, { A: 'secret\0x' }];
  for (const variables of invalid) {
    const error = errorOf(() => writeVariables(registry, 'kubelet', variables));
    expect([error?.code, error?.message.includes('secret')]).toEqual(['FIELD_INVALID', false]);
  }
  expect(registry.keys[key]).toEqual({});
});
