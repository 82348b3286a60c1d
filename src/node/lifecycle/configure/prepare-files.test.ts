import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { missingInput, PendingInputError } from '../../inputs/missing-input.ts';
import { prepareFiles } from './prepare-files.ts';

const label = 'ServiceAccount wmco/node-bootstrapper';

/** A journey whose inputs fail this often; also gives the calls and what the step waited for. */
function benchWith(error: AppError, failures: number) {
  const bench = new JourneyBench();
  const { inputs } = bench.journey.deps;
  const { journal } = bench.journey.record;
  const prepare = inputs.prepareInputs.bind(inputs);
  const notes: (string | undefined)[] = [];
  const seen = { calls: 0, notes };
  const note = journal.note.bind(journal);
  journal.note = text => {
    notes.push(text);
    note(text);
  };
  inputs.prepareInputs = async (...given) => {
    seen.calls += 1;
    if (seen.calls <= failures) throw error;
    return prepare(...given);
  };
  return { bench, seen };
}

test('waits for an object that the operator is creating, and says so', async () => {
  const { bench, seen } = benchWith(new PendingInputError(label), 2);
  await bench.take(prepareFiles);
  expect(seen).toEqual({ calls: 3, notes: [`waiting for ${label}`, `waiting for ${label}`, undefined] });
  expect(bench.journey.prepared.inputs.version).toBe('v2');
});

test('fails when that object is still missing after a minute', async () => {
  const { bench, seen } = benchWith(new PendingInputError(label), Infinity);
  expect(await rejectionOf(bench.take(prepareFiles))).toMatchObject({
    code: 'MATERIAL_MISSING',
    message: `${label} does not exist`,
  });
  expect(seen.calls).toBeGreaterThan(2);
});

const others: [string, AppError][] = [
  ['an object that others create', missingInput('Secret wmco/tls')],
  ['an invalid object', new AppError('SECRET_KEY_MISSING', 'no key', { remedy: 'Add it.' })],
];
for (const [name, error] of others) {
  test(`fails at once for ${name}`, async () => {
    const { bench, seen } = benchWith(error, Infinity);
    expect(await rejectionOf(bench.take(prepareFiles))).toBe(error);
    expect(seen.calls).toBe(1);
  });
}
