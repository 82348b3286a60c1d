import { asTable, core, given, type ParityCase, status } from './case.ts';

const list = `GET ${core}/configmaps`;
const three = [
  given('a', {}, { labels: { n: '1', t: 'x' } }),
  given('b', {}, { labels: { n: '2' } }),
  given('c', {}, { labels: { n: '3', t: 'y' } }),
];
// A real server adds a ConfigMap with its CA to each namespace after a while.
const labeled = 'labelSelector=n';

export const readCases: readonly ParityCase[] = [
  {
    name: 'gets an object',
    steps: [
      given('a', { data: { k: 'v' } }),
      { send: `GET ${core}/configmaps/a`, code: 200, gives: { kind: 'ConfigMap', apiVersion: 'v1', data: { k: 'v' } } },
    ],
  },
  {
    name: 'names a missing object',
    steps: [
      {
        send: `GET ${core}/configmaps/none`,
        code: 404,
        gives: status('NotFound', 'configmaps "none" not found', { name: 'none', kind: 'configmaps' }),
      },
      {
        send: 'GET /apis/apps/v1/namespaces/{ns}/daemonsets/none',
        code: 404,
        gives: status('NotFound', 'daemonsets.apps "none" not found', {
          name: 'none',
          group: 'apps',
          kind: 'daemonsets',
        }),
      },
    ],
  },
  {
    name: 'rejects unknown resources, subresources and versions',
    steps: [
      {
        send: `GET ${core}/nothings`,
        code: 404,
        gives: status('NotFound', 'the server could not find the requested resource'),
      },
      { send: `GET ${core}/configmaps/a/nothing`, code: 404, gives: status('NotFound') },
      { send: `GET ${core}/nodes`, code: 404, gives: status('NotFound') },
      { send: 'GET /apis/apps/v9/daemonsets', code: 404 },
      { send: 'GET /apis/nothing.example.com/v1/things', code: 404 },
      { send: 'GET /nothing', code: 404 },
    ],
  },
  {
    name: 'rejects unsupported methods',
    steps: [
      { send: `POST ${core}/configmaps/a`, body: {}, code: 405, gives: status('MethodNotAllowed') },
      { send: `PUT ${core}/configmaps`, body: {}, code: 405, gives: status('MethodNotAllowed') },
      { send: 'DELETE /api/v1/namespaces', code: 405, gives: status('MethodNotAllowed') },
      { send: `GET ${core}/pods/a/eviction`, code: 405, gives: status('MethodNotAllowed') },
    ],
  },
  {
    name: 'lists in the order of names, without kinds in the items',
    steps: [
      ...three,
      {
        send: `${list}?${labeled}`,
        code: 200,
        gives: {
          kind: 'ConfigMapList',
          apiVersion: 'v1',
          metadata: { resourceVersion: /^\d+$/ },
          items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }, { metadata: { name: 'c' } }],
        },
        lacks: ['items.0.kind', 'items.0.apiVersion', 'metadata.continue'],
      },
    ],
  },
  {
    name: 'returns an empty list for a missing namespace',
    steps: [{ send: 'GET /api/v1/namespaces/{ns}-none/configmaps', code: 200, gives: { items: [] } }],
  },
  {
    name: 'lists over all namespaces',
    steps: [
      given('a', {}, { labels: { only: '{id}' } }),
      {
        send: 'GET /api/v1/configmaps?labelSelector=only%3D{id}',
        code: 200,
        gives: { items: [{ metadata: { name: 'a', namespace: '{ns}' } }] },
      },
    ],
  },
  {
    name: 'pages through a list',
    steps: [
      ...three,
      {
        send: `${list}?limit=2&${labeled}`,
        code: 200,
        gives: { metadata: { continue: /./ }, items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }] },
        lacks: ['metadata.remainingItemCount'],
        keep: { token: 'metadata.continue', version: 'metadata.resourceVersion' },
      },
      given('bb', {}, { labels: { n: '9' } }),
      {
        send: `${list}?limit=2&${labeled}&continue={token}`,
        code: 200,
        gives: { metadata: { resourceVersion: '{version}' }, items: [{ metadata: { name: 'c' } }] },
      },
    ],
  },
  {
    name: 'returns remainingItemCount for lists without selectors',
    steps: [
      ...['a', 'b', 'c'].map(name => ({
        send: `POST ${core}/endpoints`,
        body: { metadata: { name } },
        code: 201,
      })),
      { send: `GET ${core}/endpoints?limit=1`, code: 200, gives: { metadata: { remainingItemCount: 2 } } },
      { send: `GET ${core}/endpoints?limit=3`, code: 200, lacks: ['metadata.continue', 'metadata.remainingItemCount'] },
    ],
  },
  {
    name: 'rejects an invalid continue token, limit and resourceVersion',
    steps: [
      { send: `${list}?continue=abc`, code: 400, gives: status('BadRequest', /continue/) },
      {
        send: `${list}?limit=abc`,
        code: 400,
        gives: status('BadRequest', 'strconv.ParseInt: parsing "abc": invalid syntax'),
      },
      {
        send: `${list}?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhXHUwMDAwIn0&resourceVersion=5`,
        code: 400,
        gives: status('BadRequest', 'specifying resource version is not allowed when using continue'),
      },
      {
        send: `${list}?resourceVersion=1&resourceVersionMatch=Some`,
        code: 422,
        gives: status('Invalid', /resourceVersionMatch: Unsupported value: "Some"/),
      },
      {
        send: `${list}?resourceVersionMatch=Exact`,
        code: 422,
        gives: status('Invalid', /resourceVersionMatch is forbidden unless resourceVersion is provided/),
      },
      {
        send: `${list}?resourceVersion=0&resourceVersionMatch=Exact`,
        code: 422,
        gives: status('Invalid', /resourceVersionMatch "exact" is forbidden for resourceVersion "0"/),
      },
    ],
  },
  {
    name: 'lists at an exact resourceVersion',
    steps: [
      given('a', {}, { labels: { n: '1' } }),
      { send: `${list}?${labeled}`, code: 200, keep: { version: 'metadata.resourceVersion' } },
      given('b', {}, { labels: { n: '2' } }),
      {
        send: `${list}?${labeled}&resourceVersion={version}&resourceVersionMatch=Exact`,
        code: 200,
        gives: { metadata: { resourceVersion: '{version}' }, items: [{ metadata: { name: 'a' } }] },
      },
    ],
  },
  {
    name: 'rejects a future resourceVersion',
    steps: [
      {
        send: `${list}?resourceVersion=100000000`,
        code: 504,
        gives: status('Timeout', /Too large resource version: 100000000/, {
          causes: [{ reason: 'ResourceVersionTooLarge' }],
        }),
      },
    ],
  },
  {
    name: 'prints a table',
    steps: [
      given('a', { data: { k: 'v' } }),
      {
        send: `GET ${core}/configmaps/a`,
        accept: asTable,
        code: 200,
        gives: {
          kind: 'Table',
          apiVersion: 'meta.k8s.io/v1',
          metadata: { resourceVersion: /^\d+$/ },
          columnDefinitions: [
            { name: 'Name', type: 'string', format: 'name', priority: 0 },
            { name: 'Data', type: 'string', format: '', priority: 0 },
            { name: 'Age', type: 'string', format: '', priority: 0 },
          ],
          rows: [
            {
              cells: ['a', 1, /^\d+s$/],
              object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } },
            },
          ],
        },
      },
      {
        send: `GET ${core}/configmaps/a?includeObject=Object`,
        accept: `${asTable},application/json`,
        code: 200,
        gives: { rows: [{ object: { kind: 'ConfigMap', data: { k: 'v' } } }] },
      },
      {
        send: `GET ${core}/configmaps/a?includeObject=None`,
        accept: asTable,
        code: 200,
        gives: { rows: [{ object: null }] },
      },
    ],
  },
  {
    name: 'rejects unsupported response formats',
    steps: [
      given('a'),
      { send: `GET ${core}/configmaps/a`, accept: 'text/nothing', code: 406, gives: status('NotAcceptable') },
      {
        send: `GET ${core}/configmaps/a`,
        accept: 'application/json;as=Nothing;v=v1;g=meta.k8s.io',
        code: 406,
        gives: status('NotAcceptable', /^only the following media types are accepted: application\/json/),
      },
    ],
  },
];
