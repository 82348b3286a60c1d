import { asTable, core, given, type ParityCase, type Step } from './case.ts';
import { pod } from './pods.ts';

const base = `${core}/configmaps?watch=true&timeoutSeconds=3`;
// Real clusters put a ConfigMap with their CA into each namespace; only ours have the label.
const path = `${base}&labelSelector=n`;
const ours = { labels: { n: '1' } };
const version: Step = { send: `GET ${core}/configmaps`, code: 200, keep: { version: 'metadata.resourceVersion' } };
const named = (name: string, more: Record<string, unknown> = {}) => ({
  kind: 'ConfigMap',
  metadata: { name, ...more },
});
const patch = (body: unknown): Step => ({ send: `PATCH ${core}/configmaps/a`, body, code: 200 });
const remove: Step = { send: `DELETE ${core}/configmaps/a`, code: 200 };

export const watchCases: readonly ParityCase[] = [
  {
    name: 'tells of every change after a version',
    steps: [
      given('before', {}, ours),
      version,
      {
        watch: `${path}&resourceVersion={version}`,
        steps: [given('a', {}, ours), patch({ data: { k: 'v' } }), remove],
        events: [
          ['ADDED', { ...named('a', { resourceVersion: /^\d+$/ }), apiVersion: 'v1' }],
          ['MODIFIED', { ...named('a'), data: { k: 'v' } }],
          ['DELETED', { ...named('a'), data: { k: 'v' } }],
        ],
      },
    ],
  },
  {
    name: 'tells of what happened between a version and the watch',
    steps: [
      version,
      given('a', {}, ours),
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
    name: 'begins with what exists for version 0',
    steps: [given('a', {}, ours), { watch: `${path}&resourceVersion=0`, events: [['ADDED', named('a')]] }],
  },
  {
    name: 'lets an object appear and disappear with its labels',
    steps: [
      given('a', {}, ours),
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
        steps: [given('b', {}, ours), given('a', {}, ours), remove],
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
    name: 'shows a deletion that waits as a change and the end as the last state',
    steps: [
      given('a', {}, { ...ours, finalizers: ['example.com/hold'] }),
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
    name: 'is not told of a write that changes nothing',
    steps: [
      given('a', { data: { k: 'v' } }, ours),
      version,
      { watch: `${path}&resourceVersion={version}`, steps: [patch({ data: { k: 'v' } })], events: [] },
    ],
  },
  {
    name: 'streams tables, the columns once',
    steps: [
      given('a', {}, ours),
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
    name: 'refuses options that make no sense for a watch',
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
    name: 'shows the end of a pod as a change and an end',
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
