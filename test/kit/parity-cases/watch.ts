import { asTable, core, given, type ParityCase, type Step } from './case.ts';
import { pod } from './pods.ts';

const base = `${core}/configmaps?watch=true&timeoutSeconds=3`;
// Real clusters add a ConfigMap with their CA to each namespace; those of the cases have the label.
const path = `${base}&labelSelector=n`;
const labeled = { labels: { n: '1' } };
const version: Step = { send: `GET ${core}/configmaps`, code: 200, keep: { version: 'metadata.resourceVersion' } };
const named = (name: string, more: Record<string, unknown> = {}) => ({
  kind: 'ConfigMap',
  metadata: { name, ...more },
});
const patch = (body: unknown): Step => ({ send: `PATCH ${core}/configmaps/a`, body, code: 200 });
const remove: Step = { send: `DELETE ${core}/configmaps/a`, code: 200 };

export const watchCases: readonly ParityCase[] = [
  {
    name: 'sends every change after a resourceVersion',
    steps: [
      given('before', {}, labeled),
      version,
      {
        watch: `${path}&resourceVersion={version}`,
        steps: [given('a', {}, labeled), patch({ data: { k: 'v' } }), remove],
        events: [
          ['ADDED', { ...named('a', { resourceVersion: /^\d+$/ }), apiVersion: 'v1' }],
          ['MODIFIED', { ...named('a'), data: { k: 'v' } }],
          ['DELETED', { ...named('a'), data: { k: 'v' } }],
        ],
      },
    ],
  },
  {
    name: 'sends changes between a resourceVersion and the start of the watch',
    steps: [
      version,
      given('a', {}, labeled),
      patch({ data: { k: 'v' } }),
      remove,
      {
        watch: `${path}&resourceVersion={version}`,
        events: [
          ['ADDED', named('a')],
          ['MODIFIED', named('a')],
          ['DELETED', named('a')],
        ],
      },
    ],
  },
  {
    name: 'begins with existing objects for resourceVersion 0',
    steps: [given('a', {}, labeled), { watch: `${path}&resourceVersion=0`, events: [['ADDED', named('a')]] }],
  },
  {
    name: 'sends objects that start or stop matching as added and deleted',
    steps: [
      given('a', {}, labeled),
      version,
      {
        watch: `${base}&labelSelector=n%3D9&resourceVersion={version}`,
        steps: [
          patch({ metadata: { labels: { n: '9' } } }),
          patch({ data: { k: '1' } }),
          patch({ metadata: { labels: { n: '1' } } }),
          patch({ data: { k: '2' } }),
          patch({ metadata: { labels: { n: '9' } } }),
          remove,
        ],
        events: [
          ['ADDED', named('a', { labels: { n: '9' } })],
          ['MODIFIED', { ...named('a', { labels: { n: '9' } }), data: { k: '1' } }],
          ['DELETED', { ...named('a', { labels: { n: '9' } }), data: { k: '1' } }],
          ['ADDED', { ...named('a', { labels: { n: '9' } }), data: { k: '2' } }],
          ['DELETED', named('a', { labels: { n: '9' } })],
        ],
      },
    ],
  },
  {
    name: 'watches a single object by field selector',
    steps: [
      version,
      {
        watch: `${base}&fieldSelector=metadata.name%3Da&resourceVersion={version}`,
        steps: [given('b', {}, labeled), given('a', {}, labeled), remove],
        events: [
          ['ADDED', named('a')],
          ['DELETED', named('a')],
        ],
      },
    ],
  },
  {
    name: 'watches over all namespaces',
    steps: [
      version,
      {
        watch: '/api/v1/configmaps?watch=true&timeoutSeconds=3&labelSelector=w%3D{id}&resourceVersion={version}',
        steps: [given('a', {}, { labels: { w: '{id}' } })],
        events: [['ADDED', named('a', { namespace: '{ns}' })]],
      },
    ],
  },
  {
    name: 'sends a pending deletion as a change, and the deletion with the last state',
    steps: [
      given('a', {}, { ...labeled, finalizers: ['example.com/hold'] }),
      version,
      {
        watch: `${path}&resourceVersion={version}`,
        steps: [remove, patch({ metadata: { finalizers: null } })],
        events: [
          ['MODIFIED', named('a', { deletionTimestamp: /./, finalizers: ['example.com/hold'] })],
          ['DELETED', named('a', { deletionTimestamp: /./ })],
        ],
      },
    ],
  },
  {
    name: 'sends no event for a write without changes',
    steps: [
      given('a', { data: { k: 'v' } }, labeled),
      version,
      { watch: `${path}&resourceVersion={version}`, steps: [patch({ data: { k: 'v' } })], events: [] },
    ],
  },
  {
    name: 'streams tables with columns in the first event',
    steps: [
      given('a', {}, labeled),
      version,
      {
        watch: `${path}&resourceVersion={version}`,
        accept: asTable,
        steps: [patch({ data: { k: 'v' } }), remove],
        events: [
          [
            'MODIFIED',
            {
              kind: 'Table',
              columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }],
              rows: [{ cells: ['a', 1, /./], object: { metadata: { name: 'a' } } }],
            },
          ],
          ['DELETED', { kind: 'Table', columnDefinitions: null, rows: [{ cells: ['a', 1, /./] }] }],
        ],
      },
    ],
  },
  {
    name: 'rejects invalid options of a watch',
    steps: [
      { send: `GET ${core}/configmaps?watch=true&timeoutSeconds=abc`, code: 400, gives: { reason: 'BadRequest' } },
      { send: `GET ${core}/configmaps?watch=true&labelSelector=a%3Db%3Dc`, code: 400, gives: { reason: 'BadRequest' } },
      {
        send: `GET ${core}/configmaps?watch=true&resourceVersion=5&resourceVersionMatch=Exact`,
        code: 422,
        gives: { reason: 'Invalid' },
      },
    ],
  },
  {
    name: 'sends the deletion of a pod as a change and a deletion',
    steps: [
      pod('p'),
      { send: `GET ${core}/pods`, code: 200, keep: { version: 'metadata.resourceVersion' } },
      {
        watch: `${core}/pods?watch=true&timeoutSeconds=3&resourceVersion={version}`,
        steps: [{ send: `DELETE ${core}/pods/p`, code: 200 }],
        events: [
          ['MODIFIED', { metadata: { name: 'p', deletionTimestamp: /./, deletionGracePeriodSeconds: 0 } }],
          ['DELETED', { metadata: { name: 'p' } }],
        ],
      },
    ],
  },
];
