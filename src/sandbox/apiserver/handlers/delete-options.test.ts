import { expect, test } from 'vitest';
import { refusal } from '../../../../test/kit/sandbox.ts';
import { dryRunCauses, readDeleteOptions } from './delete-options.ts';

const bodies: [unknown, Record<string, unknown>][] = [
  [{}, {}],
  [{ kind: 'DeleteOptions', apiVersion: 'v1' }, {}],
  [{ gracePeriodSeconds: 5 }, { gracePeriodSeconds: 5 }],
  [{ gracePeriodSeconds: 0 }, { gracePeriodSeconds: 0 }],
  [{ gracePeriodSeconds: -5 }, { gracePeriodSeconds: 0 }],
  [{ gracePeriodSeconds: null }, {}],
  [{ gracePeriodSeconds: '5' }, {}],
  [{ propagationPolicy: 'Orphan' }, { propagationPolicy: 'Orphan' }],
  [{ propagationPolicy: 'Background' }, { propagationPolicy: 'Background' }],
  [{ propagationPolicy: null }, {}],
  [{ preconditions: { uid: 'u' } }, { preconditions: { uid: 'u' } }],
  [{ preconditions: { resourceVersion: '5' } }, { preconditions: { resourceVersion: '5' } }],
  [{ preconditions: { uid: null } }, {}],
  [{ dryRun: ['All'] }, { dryRun: true }],
  [{ dryRun: [] }, {}],
];
test.each(bodies)('reads the body %j', (body, wanted) => {
  expect(readDeleteOptions(body)).toEqual({ preconditions: {}, ...wanted });
});

const refused: [unknown, number, string | RegExp][] = [
  [[], 400, 'the object provided is unrecognized (must be of type DeleteOptions)'],
  ['x', 400, 'the object provided is unrecognized (must be of type DeleteOptions)'],
  [
    { propagationPolicy: 'Foreground' },
    422,
    'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Foreground": supported values: "Background", "Orphan"',
  ],
  [{ dryRun: ['Some'] }, 422, /dryRun: Unsupported value: \[\]string\{"Some"\}: supported values: "All"$/],
  [{ dryRun: ['All', 'x'] }, 422, /\[\]string\{"All", "x"\}/],
];
test.each(refused)('rejects %j', (body, code, message) => {
  const wanted = typeof message === 'string' ? message : expect.stringMatching(message);
  expect(refusal(() => readDeleteOptions(body))).toEqual([code, wanted]);
});

test('accepts only dryRun=All', () => {
  expect(dryRunCauses(undefined)).toEqual([]);
  expect(dryRunCauses([])).toEqual([]);
  expect(dryRunCauses(['All'])).toEqual([]);
  expect(dryRunCauses(['all'])).toHaveLength(1);
});
