import { asMetadata, asMetadataList, core, given, type ParityCase, type Step, status } from './case.ts';
import { define, make, widget, widgets } from './widget.ts';

const labeled = { labels: { n: '1' } };
const partial = (name: string, more: Record<string, unknown> = {}) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: { name, uid: /./, resourceVersion: /^\d+$/, ...more },
  data: undefined,
  spec: undefined,
  status: undefined,
});
const short = (send: string, step: Partial<Step> = {}): Step => ({
  send,
  accept: asMetadata,
  code: 200,
  gives: partial('a'),
  ...step,
});
const list = `GET ${core}/configmaps?labelSelector=n`;

export const metadataOnlyCases: readonly ParityCase[] = [
  {
    name: 'answers writes and reads of an object with its metadata only',
    steps: [
      { ...given('a', { data: { k: 'v' } }, labeled), accept: asMetadata, gives: partial('a', labeled) },
      short(`GET ${core}/configmaps/a`),
      short(`PATCH ${core}/configmaps/a`, { body: { data: { k: 'w' } } }),
      short(`PUT ${core}/configmaps/a`, { body: { metadata: { name: 'a' }, data: { k: 'x' } } }),
      { send: `GET ${core}/configmaps/a`, code: 200, gives: { kind: 'ConfigMap', data: { k: 'x' } } },
    ],
  },
  {
    name: 'answers a request for metadata only with a Status where there is no object',
    steps: [
      given('a'),
      short(`GET ${core}/configmaps/none`, { code: 404, gives: status('NotFound', 'configmaps "none" not found') }),
      short(`DELETE ${core}/configmaps/a`, { gives: { kind: 'Status', status: 'Success' } }),
    ],
  },
  {
    name: 'answers the deletion of an object that waits for a finalizer with its metadata only',
    steps: [
      given('a', {}, { finalizers: ['example.com/f'] }),
      short(`DELETE ${core}/configmaps/a`, { gives: partial('a', { deletionTimestamp: /Z$/ }) }),
      { send: `PATCH ${core}/configmaps/a`, body: { metadata: { finalizers: null } }, code: 200 },
    ],
  },
  {
    name: 'prefers metadata only to the whole object in the order of the header',
    steps: [
      given('a', { data: { k: 'v' } }),
      short(`GET ${core}/configmaps/a`, { accept: `${asMetadata},application/json` }),
      short(`GET ${core}/configmaps/a`, {
        accept: `application/json,${asMetadata}`,
        gives: { kind: 'ConfigMap', data: { k: 'v' } },
      }),
    ],
  },
  {
    name: 'lists metadata only',
    steps: [
      given('a', { data: { k: 'v' } }, labeled),
      given('b', {}, labeled),
      {
        send: list,
        accept: asMetadataList,
        code: 200,
        gives: {
          kind: 'PartialObjectMetadataList',
          apiVersion: 'meta.k8s.io/v1',
          metadata: { resourceVersion: /^\d+$/ },
          items: [partial('a', labeled), partial('b')],
        },
      },
      {
        send: `${list}&limit=1`,
        accept: asMetadataList,
        code: 200,
        gives: { metadata: { continue: /./ }, items: [partial('a')] },
        keep: { continue: 'metadata.continue' },
      },
      {
        send: `${list}&limit=1&continue={continue}`,
        accept: asMetadataList,
        code: 200,
        gives: { items: [partial('b')] },
      },
      {
        send: `GET ${core}/configmaps?labelSelector=none`,
        accept: asMetadataList,
        code: 200,
        gives: { kind: 'PartialObjectMetadataList', items: null },
      },
    ],
  },
  {
    name: 'rejects metadata of a list where an object is read, and of an object where a list is',
    steps: [
      given('a', {}, labeled),
      {
        send: list,
        accept: asMetadata,
        code: 406,
        gives: status('NotAcceptable', /^you requested PartialObjectMetadata, but the requested object is a list/),
      },
      {
        send: `GET ${core}/configmaps/a`,
        accept: asMetadataList,
        code: 406,
        gives: status(
          'NotAcceptable',
          /^you requested PartialObjectMetadataList, but the requested object is not a list/,
        ),
      },
    ],
  },
  {
    name: 'watches metadata only',
    steps: [
      given('a', { data: { k: 'v' } }, labeled),
      {
        watch: `${core}/configmaps?watch=true&timeoutSeconds=3&labelSelector=n`,
        accept: asMetadata,
        steps: [
          short(`PATCH ${core}/configmaps/a`, { body: { data: { k: 'w' } } }),
          short(`DELETE ${core}/configmaps/a`, { gives: { kind: 'Status' } }),
        ],
        events: [
          ['ADDED', partial('a', labeled)],
          ['MODIFIED', partial('a')],
          ['DELETED', partial('a')],
        ],
      },
    ],
  },
  {
    name: 'answers writes of a custom resource and of its status with the metadata only',
    steps: [
      ...define,
      make,
      short(`PATCH ${widgets}/w/status`, {
        body: { status: { phase: 'Good' } },
        gives: partial('w', { generation: 1 }),
      }),
      short(`PATCH ${widgets}/w`, { body: { spec: { size: 2 } }, gives: partial('w', { generation: 2 }) }),
      short(`PUT ${widgets}/other`, {
        code: 404,
        body: widget({ size: 1 }, { metadata: { name: 'other' } }),
        gives: status('NotFound'),
      }),
      { send: `GET ${widgets}/w`, code: 200, gives: { spec: { size: 2 }, status: { phase: 'Good' } } },
      {
        send: `GET ${widgets}`,
        accept: asMetadataList,
        code: 200,
        gives: { kind: 'PartialObjectMetadataList', items: [partial('w')] },
      },
      short(`DELETE ${widgets}/w`, { gives: { kind: 'Status', status: 'Success' } }),
    ],
  },
];
