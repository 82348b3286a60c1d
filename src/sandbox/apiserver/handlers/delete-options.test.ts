import { expect, test } from 'vitest';
import { refusal } from '../../../../test/kit/sandbox.ts';
import { dryRunCauses, readDeleteOptions } from './delete-options.ts';

const none = new URLSearchParams();

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
  [{ propagationPolicy: 'Foreground' }, { propagationPolicy: 'Foreground' }],
  [{ propagationPolicy: null }, {}],
  [{ orphanDependents: true }, { propagationPolicy: 'Orphan' }],
  [{ orphanDependents: false }, { propagationPolicy: 'Background' }],
  [{ preconditions: { uid: 'u' } }, { preconditions: { uid: 'u' } }],
  [{ preconditions: { resourceVersion: '5' } }, { preconditions: { resourceVersion: '5' } }],
  [{ preconditions: { uid: null } }, {}],
  [{ dryRun: ['All'] }, { dryRun: true }],
  [{ dryRun: [] }, {}],
];
test.each(bodies)('reads the body %j', (body, wanted) => {
  expect(readDeleteOptions(body, none)).toEqual({ preconditions: {}, ...wanted });
});

const queries: [string, Record<string, unknown>][] = [
  ['', {}],
  ['gracePeriodSeconds=5', { gracePeriodSeconds: 5 }],
  ['gracePeriodSeconds=x', {}],
  ['propagationPolicy=Foreground', { propagationPolicy: 'Foreground' }],
  ['orphanDependents=true', { propagationPolicy: 'Orphan' }],
  ['orphanDependents=false', { propagationPolicy: 'Background' }],
  ['dryRun=All', { dryRun: true }],
];
test.each(queries)('reads the query "%s" when there is no body', (query, wanted) => {
  expect(readDeleteOptions(undefined, new URLSearchParams(query))).toEqual({ preconditions: {}, ...wanted });
});

test('takes the body rather than the query', () => {
  const query = new URLSearchParams('gracePeriodSeconds=5');
  expect(readDeleteOptions({ gracePeriodSeconds: 9 }, query)).toMatchObject({ gracePeriodSeconds: 9 });
  expect(readDeleteOptions({}, query)).not.toHaveProperty('gracePeriodSeconds');
});

const refused: [unknown, number, string | RegExp][] = [
  [[], 400, 'the object provided is unrecognized (must be of type DeleteOptions)'],
  ['x', 400, 'the object provided is unrecognized (must be of type DeleteOptions)'],
  [
    { propagationPolicy: 'Some' },
    422,
    'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Some": supported values: "Foreground", "Background", "Orphan", "nil"',
  ],
  [
    { propagationPolicy: 'Orphan', orphanDependents: false },
    422,
    /propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set$/,
  ],
  [{ dryRun: ['Some'] }, 422, /dryRun: Unsupported value: \[\]string\{"Some"\}: supported values: "All"$/],
  [{ dryRun: ['All', 'x'] }, 422, /\[\]string\{"All", "x"\}/],
];
test.each(refused)('refuses %j', (body, code, message) => {
  const wanted = typeof message === 'string' ? message : expect.stringMatching(message);
  expect(refusal(() => readDeleteOptions(body, none))).toEqual([code, wanted]);
});

test('knows one kind of dry run', () => {
  expect(dryRunCauses(undefined)).toEqual([]);
  expect(dryRunCauses([])).toEqual([]);
  expect(dryRunCauses(['All'])).toEqual([]);
  expect(dryRunCauses(['all'])).toHaveLength(1);
});
