import { expect, test } from 'vitest';
import { makeCsr } from '../../../../test/kit/csr.ts';
import { created, objectOf, problems, row } from '../../../../test/kit/kind-checks.ts';
import { Store } from '../store.ts';
import { certificateSigningRequest as kind } from './certificates.ts';

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const request = encoded(makeCsr());
const pem = encoded('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
const spec = { request, signerName: 'example.com/s', usages: ['client auth'] };
const condition = (type: string, more: object = {}) => ({ type, status: 'True', ...more });

test('stores the authenticated requester, not what the client sends', () => {
  const sent = {
    spec: { ...spec, username: 'evil', groups: ['evil'], uid: 'evil', extra: { a: ['b'] } },
    status: { certificate: 'x' },
  };
  const store = new Store();
  const who = (user: { username: string; groups: string[]; uid?: string; extra?: Record<string, string[]> }) =>
    created(kind, sent, { user, store });
  expect(who({ username: 'joe', groups: ['g'], uid: 'u', extra: { c: ['d'] } })).toMatchObject({
    spec: { username: 'joe', groups: ['g'], uid: 'u', extra: { c: ['d'] } },
    status: {},
  });
});

const judged: [string, Record<string, unknown>, unknown[]][] = [
  ['all it needs', {}, []],
  ['no signer', { signerName: undefined }, ['spec.signerName: Required value']],
  [
    'a signer without a domain',
    { signerName: 's' },
    [expect.stringMatching(/^spec\.signerName: Invalid value: "s": must be a fully/)],
  ],
  ['a signer without a path', { signerName: 'a.b/' }, [expect.stringMatching(/^spec\.signerName: Invalid value/)]],
  ['no usages', { usages: [] }, ['spec.usages: Required value: usages must be provided']],
  ['a usage twice', { usages: ['any', 'any'] }, ['spec.usages[1]: Duplicate value: "any"']],
  [
    'an unknown usage',
    { usages: ['any', 'x'] },
    [expect.stringMatching(/^spec\.usages\[1\]: Unsupported value: "x": supported values: "any", "cert sign"/)],
  ],
  [
    'no request',
    { request: undefined },
    [expect.stringMatching(/^spec\.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST$/)],
  ],
  [
    'a certificate instead of a request',
    { request: pem },
    [expect.stringMatching(/PEM block type must be CERTIFICATE REQUEST/)],
  ],
  ['a text', { request: encoded('hello') }, [expect.stringMatching(/PEM block type must be CERTIFICATE REQUEST/)]],
];
test.each(judged)('judges a request with %s', (_, more, wanted) => {
  expect(problems(kind, { spec: { ...spec, ...more } })).toEqual(wanted);
});

const base = { spec, status: {} };
const conditions: [string, unknown[], unknown[], string[]][] = [
  ['an approval', [], [condition('Approved')], []],
  ['a denial', [], [condition('Denied')], []],
  ['a failure later', [condition('Approved')], [condition('Approved'), condition('Failed')], []],
  ['something of its own', [], [condition('Example', { status: 'Unknown' })], []],
  ['no type', [], [{ status: 'True' }], ['status.conditions[0].type: Required value']],
  ['no status', [], [{ type: 'Approved' }], ['status.conditions[0].status: Required value']],
  [
    'a no',
    [],
    [condition('Denied', { status: 'False' })],
    ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
  ],
  [
    'both',
    [],
    [condition('Approved'), condition('Denied')],
    ['status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'],
  ],
  [
    'both the other way round',
    [],
    [condition('Denied'), condition('Approved')],
    ['status.conditions[1].type: Invalid value: "Approved": Approved and Denied conditions are mutually exclusive'],
  ],
  [
    'the same twice',
    [],
    [condition('Failed'), condition('Failed')],
    ['status.conditions[1].type: Duplicate value: "Failed"'],
  ],
  [
    'a withdrawal',
    [condition('Approved')],
    [],
    ['status.conditions: Forbidden: updates may not remove a condition of type "Approved"'],
  ],
  [
    'another mind',
    [condition('Denied')],
    [condition('Approved')],
    ['status.conditions: Forbidden: updates may not remove a condition of type "Denied"'],
  ],
  ['another reason', [condition('Approved', { reason: 'a' })], [condition('Approved', { reason: 'b' })], []],
];
test.each(conditions)('judges a change to %s', (_, before, after, wanted) => {
  expect(
    problems(kind, { ...base, status: { conditions: after } }, { ...base, status: { conditions: before } }),
  ).toEqual(wanted);
});

const certificates: [string, string | undefined, string | undefined, string[]][] = [
  ['none', undefined, undefined, []],
  ['a new one', undefined, pem, []],
  ['the same', pem, pem, []],
  [
    'one that is none',
    undefined,
    encoded('x'),
    ['status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'],
  ],
  [
    'another',
    pem,
    encoded('y'),
    ['status.certificate: Forbidden: updates may not modify existing certificate content'],
  ],
  [
    'none any more',
    pem,
    undefined,
    ['status.certificate: Forbidden: updates may not modify existing certificate content'],
  ],
];
test.each(certificates)('judges a change to a certificate: %s', (_, before, after, wanted) => {
  expect(problems(kind, { spec, status: { certificate: after } }, { spec, status: { certificate: before } })).toEqual(
    wanted,
  );
});

const old = objectOf(kind, { spec, status: { conditions: [condition('Approved')], certificate: pem } });
const next = objectOf(
  kind,
  { spec: { ...spec, signerName: 'x.y/z' }, status: { conditions: [condition('Failed')], certificate: 'eA==' } },
  { labels: { l: 'm' } },
);
const parts: [string, object][] = [
  ['', { conditions: [condition('Approved')], certificate: pem }],
  ['approval', { conditions: [condition('Failed')], certificate: pem }],
  ['status', { conditions: [condition('Failed')], certificate: 'eA==' }],
];
test.each(parts)('changes by "%s" only what belongs there', (subresource, status) => {
  expect(kind.prepareUpdate(next, old, subresource)).toEqual(objectOf(kind, { spec, status }, { labels: { l: 'm' } }));
});

test('an approval without conditions means that there are none', () => {
  expect(kind.prepareUpdate(objectOf(kind, { spec }), old, 'approval')['status']).toEqual({ certificate: pem });
});

test('sets missing times of conditions', () => {
  const stamp = (after: unknown[], before?: unknown[]) =>
    kind.stamp(
      objectOf(kind, { spec, status: { conditions: after } }),
      before && objectOf(kind, { spec, status: { conditions: before } }),
      'now',
    )['status'];
  expect(stamp([condition('Approved')])).toEqual({
    conditions: [condition('Approved', { lastUpdateTime: 'now', lastTransitionTime: 'now' })],
  });
  const dated = condition('Approved', { lastUpdateTime: 'then', lastTransitionTime: 'then' });
  expect(stamp([dated])).toEqual({ conditions: [dated] });
  expect(stamp([condition('Approved')], [dated])).toEqual({
    conditions: [condition('Approved', { lastUpdateTime: 'now', lastTransitionTime: 'then' })],
  });
  expect(kind.stamp(objectOf(kind, { spec }), undefined, 'now')).toEqual(objectOf(kind, { spec }));
});

const shown: [string, Record<string, unknown>, string][] = [
  ['nothing yet', {}, 'Pending'],
  ['approved', { conditions: [condition('Approved')] }, 'Approved'],
  ['issued', { conditions: [condition('Approved')], certificate: pem }, 'Approved,Issued'],
  ['denied', { conditions: [condition('Denied')] }, 'Denied'],
  ['failed', { conditions: [condition('Approved'), condition('Failed')] }, 'Approved,Failed'],
];
test.each(shown)('shows a request that is %s', (_, status, text) => {
  expect(row(kind, { spec: { ...spec, username: 'joe', expirationSeconds: 60 }, status })).toEqual({
    Name: 'a',
    Age: '60s',
    SignerName: 'example.com/s',
    Requestor: 'joe',
    RequestedDuration: '60s',
    Condition: text,
  });
});
