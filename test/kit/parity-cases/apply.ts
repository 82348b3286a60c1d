import { applyPatch, core, given, type ParityCase, type Step, status } from './case.ts';
import { define, thing, things, withSpec } from './custom-steps.ts';

const maps = `${core}/configmaps`;

function config(data?: Record<string, string>, metadata: Record<string, unknown> = {}): unknown {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, ...(data && { data }) };
}

/** An apply by a manager to the ConfigMap; a manager with an exclamation mark forces it. */
function apply(manager: string, body: unknown): Pick<Step, 'send' | 'type' | 'body'> {
  return applyTo(`${maps}/a`, manager, body);
}

function applyTo(path: string, manager: string, body: unknown): Pick<Step, 'send' | 'type' | 'body'> {
  const force = manager.endsWith('!') ? '&force=true' : '';
  return { send: `PATCH ${path}?fieldManager=${manager.replace('!', '')}${force}`, type: applyPatch, body };
}

function update(manager: string, body: unknown): Step {
  return { send: `PATCH ${maps}/a?fieldManager=${manager}`, body, code: 200 };
}

function conflict(message: string | RegExp, ...causes: [string, string][]): Pick<Step, 'code' | 'gives'> {
  const details = { causes: causes.map(([says, field]) => ({ reason: 'FieldManagerConflict', message: says, field })) };
  return { code: 409, gives: status('Conflict', message, details) };
}

function owned(...managers: [string, string, unknown][]): unknown {
  const managedFields = managers.map(([manager, operation, fieldsV1]) => ({ manager, operation, fieldsV1 }));
  return { metadata: { managedFields } };
}

const deployments = '/apis/apps/v1/namespaces/{ns}/deployments/d';

function deployment(containers: unknown[]): unknown {
  const labels = { app: 'x' };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec };
}

const node = (content: Record<string, unknown>): unknown => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'y-{id}' },
  ...content,
});

const lists = withSpec({
  text: { type: 'string' },
  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
  map: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: { type: 'string' } } },
  },
  whole: { type: 'array', items: { type: 'string' } },
  atomic: {
    type: 'object',
    'x-kubernetes-map-type': 'atomic',
    properties: { x: { type: 'string' }, y: { type: 'string' } },
  },
});

export const applyCases: readonly ParityCase[] = [
  {
    name: 'writes down who owns what after a create and after an update',
    steps: [
      {
        send: `POST ${maps}?fieldManager=maker`,
        body: config({ k: 'v', l: 'w' }, { labels: { x: '1' } }),
        code: 201,
        gives: {
          metadata: {
            managedFields: [
              {
                manager: 'maker',
                operation: 'Update',
                apiVersion: 'v1',
                time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
                fieldsType: 'FieldsV1',
                fieldsV1: {
                  'f:data': { '.': {}, 'f:k': {}, 'f:l': {} },
                  'f:metadata': { 'f:labels': { '.': {}, 'f:x': {} } },
                },
              },
            ],
          },
        },
        lacks: ['metadata.managedFields.0.fieldsV1.f:metadata.f:name'],
      },
      {
        ...update('other', { data: { k: 'changed', n: 'new' } }),
        gives: { data: { k: 'changed', l: 'w', n: 'new' } },
      },
      {
        send: `GET ${maps}/a`,
        code: 200,
        gives: owned(
          ['maker', 'Update', { 'f:data': { '.': {}, 'f:l': {} } }],
          ['other', 'Update', { 'f:data': { 'f:k': {}, 'f:n': {} } }],
        ),
        lacks: ['metadata.managedFields.0.fieldsV1.f:data.f:k'],
      },
    ],
  },
  {
    name: 'takes the name of the program for the manager when it gives none',
    steps: [{ ...given('a', { data: { k: 'v' } }), gives: owned(['parity', 'Update', { 'f:data': {} }]) }],
  },
  {
    name: 'applies: shares fields on which two managers agree',
    steps: [
      { ...apply('one', config({ k: 'v', l: 'w' })), code: 201 },
      { ...apply('two', config({ k: 'v', m: 'x' })), code: 200, gives: { data: { k: 'v', l: 'w', m: 'x' } } },
      {
        ...apply('one', config({ l: 'w' })),
        code: 200,
        gives: {
          data: { k: 'v', l: 'w', m: 'x' },
          ...(owned(
            ['one', 'Apply', { 'f:data': { 'f:l': {} } }],
            ['two', 'Apply', { 'f:data': { 'f:k': {}, 'f:m': {} } }],
          ) as object),
        },
      },
      { ...apply('two', config({ m: 'x' })), code: 200, gives: { data: { l: 'w', m: 'x' } }, lacks: ['data.k'] },
    ],
  },
  {
    name: 'applies: names every field and manager in a conflict',
    steps: [
      { ...apply('one', config({ k: 'v', l: 'w' }, { labels: { x: '1' } })), code: 201 },
      {
        ...apply('two', config({ k: 'z' })),
        ...conflict('Apply failed with 1 conflict: conflict with "one": .data.k', ['conflict with "one"', '.data.k']),
      },
      {
        ...apply('two', config({ k: 'z', l: 'z' }, { labels: { x: '2' } })),
        ...conflict(
          'Apply failed with 3 conflicts: conflicts with "one":\n- .data.k\n- .data.l\n- .metadata.labels.x',
          ['conflict with "one"', '.data.k'],
          ['conflict with "one"', '.data.l'],
          ['conflict with "one"', '.metadata.labels.x'],
        ),
      },
      { send: `GET ${maps}/a`, code: 200, gives: { data: { k: 'v', l: 'w' } } },
    ],
  },
  {
    name: 'applies: loses a field to an update, and gets it back by force',
    steps: [
      { ...apply('one', config({ k: 'v', l: 'w' })), code: 201 },
      update('other', { data: { k: 'changed' } }),
      {
        ...apply('one', config({ k: 'v', l: 'w' })),
        ...conflict('Apply failed with 1 conflict: conflict with "other" using v1: .data.k', [
          'conflict with "other" using v1',
          '.data.k',
        ]),
      },
      {
        ...apply('one!', config({ k: 'v', l: 'w' })),
        code: 200,
        gives: { data: { k: 'v' }, ...(owned(['one', 'Apply', { 'f:data': { 'f:k': {}, 'f:l': {} } }]) as object) },
      },
    ],
  },
  {
    name: 'applies: leaves alone what others have written',
    steps: [
      { ...apply('one', config({ k: 'v' })), code: 201 },
      update('other', { data: { u: 'x' }, metadata: { annotations: { n: 'x' } } }),
      {
        ...apply('one', config({ l: 'w' })),
        code: 200,
        gives: { data: { l: 'w', u: 'x' }, metadata: { annotations: { n: 'x' } } },
        lacks: ['data.k'],
      },
      { ...apply('one', config()), code: 200, gives: { data: { u: 'x' } }, lacks: ['data.l'] },
    ],
  },
  {
    name: 'applies: writes nothing when nothing changes',
    steps: [
      { ...apply('one', config({ k: 'v' })), code: 201, keep: { version: 'metadata.resourceVersion' } },
      { ...apply('one', config({ k: 'v' })), code: 200, gives: { metadata: { resourceVersion: '{version}' } } },
    ],
  },
  {
    name: 'applies: adds to a list of texts and takes its own away',
    steps: [
      { ...apply('one', config(undefined, { finalizers: ['x.y/1'] })), code: 201 },
      {
        ...apply('two', config(undefined, { finalizers: ['x.y/1', 'x.y/2'] })),
        code: 200,
        gives: { metadata: { finalizers: ['x.y/1', 'x.y/2'] } },
      },
      {
        ...apply('two', config(undefined, { finalizers: ['x.y/1'] })),
        code: 200,
        gives: { metadata: { finalizers: ['x.y/1'] } },
      },
      update('other', { metadata: { finalizers: null } }),
    ],
  },
  {
    name: 'applies: treats what has no owner as written before',
    steps: [
      given('a', { data: { k: 'v' } }),
      { ...update('other', { metadata: { managedFields: [{}] } }), lacks: ['metadata.managedFields'] },
      { ...update('other', { data: { l: 'w' } }), lacks: ['metadata.managedFields'] },
      {
        ...apply('one', config({ k: 'z' })),
        ...conflict('Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.k', [
          'conflict with "before-first-apply" using v1',
          '.data.k',
        ]),
      },
      {
        ...apply('one', config({ k: 'v' })),
        code: 200,
        gives: owned(
          ['one', 'Apply', { 'f:data': { 'f:k': {} } }],
          ['before-first-apply', 'Update', { 'f:data': { '.': {}, 'f:k': {}, 'f:l': {} } }],
        ),
      },
    ],
  },
  {
    name: 'keeps the owners when a client leaves them out of an update',
    steps: [
      { ...apply('one', config({ k: 'v' })), code: 201 },
      {
        send: `PUT ${maps}/a?fieldManager=other`,
        body: config({ k: 'v', l: 'w' }),
        code: 200,
        gives: owned(['one', 'Apply', { 'f:data': { 'f:k': {} } }], ['other', 'Update', { 'f:data': { 'f:l': {} } }]),
      },
    ],
  },
  {
    name: 'applies: takes YAML',
    steps: [
      {
        ...apply('one', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n'),
        code: 201,
        gives: { data: { k: 'v' } },
      },
    ],
  },
  {
    name: 'applies: stores nothing on a dry run',
    steps: [
      { send: `PATCH ${maps}/a?fieldManager=one&dryRun=All`, type: applyPatch, body: config({ k: 'v' }), code: 201 },
      { send: `GET ${maps}/a`, code: 404 },
    ],
  },
  {
    name: 'applies: refuses what is no configuration of the object',
    steps: [
      { ...apply('one', []), code: 400, gives: status('BadRequest') },
      { ...apply('one', '5'), code: 400, gives: status('BadRequest') },
      { ...apply('one', config({}, { name: 'b' })), code: 400, gives: status('BadRequest', /does not match the name/) },
      {
        ...apply('one', config({}, { managedFields: [{ manager: 'x' }] })),
        code: 400,
        gives: status('BadRequest', 'metadata.managedFields must be nil'),
      },
      {
        ...apply('one', { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'a' } }),
        code: 400,
        gives: status('BadRequest', /Specified patch version: v2, expected: v1/),
      },
      { send: `GET ${maps}/a`, code: 404 },
    ],
  },
  {
    name: 'applies: refuses a version that is not the latest',
    steps: [
      { ...apply('one', config({ k: 'v' })), code: 201 },
      { ...apply('one', config({ k: 'w' }, { resourceVersion: '1' })), code: 409, gives: status('Conflict') },
    ],
  },
  {
    name: 'applies: merges containers by name and names them in a conflict',
    steps: [
      { ...applyTo(deployments, 'one', deployment([{ name: 'x', image: 'i' }])), code: 201 },
      {
        ...applyTo(deployments, 'two', {
          ...(deployment([{ name: 'x', env: [{ name: 'A', value: '1' }] }]) as object),
        }),
        code: 200,
        gives: {
          spec: { template: { spec: { containers: [{ name: 'x', image: 'i', env: [{ name: 'A', value: '1' }] }] } } },
        },
      },
      {
        ...applyTo(deployments, 'two', deployment([{ name: 'x', image: 'j' }])),
        ...conflict(/conflict with "one"/, ['conflict with "one"', '.spec.template.spec.containers[name="x"].image']),
      },
      {
        ...applyTo(
          deployments,
          'one',
          deployment([
            { name: 'x', image: 'k' },
            { name: 'y', image: 'i' },
          ]),
        ),
        code: 200,
        gives: {
          spec: {
            template: { spec: { containers: [{ name: 'x', image: 'k', env: [{ name: 'A' }] }, { name: 'y' }] } },
          },
        },
      },
      {
        ...applyTo(deployments, 'one', deployment([{ name: 'x', image: 'k' }])),
        code: 200,
        gives: { spec: { template: { spec: { containers: [{ name: 'x' }] } } } },
      },
    ],
  },
  {
    name: 'applies: lets several managers have conditions of a node',
    steps: [
      { send: 'POST /api/v1/nodes?fieldManager=maker', body: node({}), code: 201 },
      {
        ...applyTo(
          '/api/v1/nodes/y-{id}/status',
          'one',
          node({ status: { conditions: [{ type: 'A', status: 'True' }] } }),
        ),
        code: 200,
        gives: { status: { conditions: [{ type: 'A', status: 'True' }] } },
      },
      {
        ...applyTo(
          '/api/v1/nodes/y-{id}/status',
          'two',
          node({ status: { conditions: [{ type: 'B', status: 'True' }] } }),
        ),
        code: 200,
        gives: { status: { conditions: [{ type: 'A' }, { type: 'B' }] } },
      },
      {
        ...applyTo(
          '/api/v1/nodes/y-{id}/status',
          'two',
          node({ status: { conditions: [{ type: 'A', status: 'False' }] } }),
        ),
        code: 409,
        gives: status('Conflict', /\.status\.conditions\[type="A"\]\.status/),
      },
      { send: 'DELETE /api/v1/nodes/y-{id}', code: 200 },
    ],
  },
  {
    name: 'applies: merges lists of a custom resource as its schema says',
    steps: [
      ...define(lists),
      {
        ...applyTo(
          `${things}/t`,
          'one',
          thing({ spec: { text: 'x', set: ['a'], map: [{ k: '1', v: '1' }], whole: ['a'] } }),
        ),
        code: 201,
      },
      {
        ...applyTo(`${things}/t`, 'two', thing({ spec: { set: ['b'], map: [{ k: '2' }], atomic: { x: '1' } } })),
        code: 200,
        gives: {
          spec: { text: 'x', set: ['a', 'b'], map: [{ k: '1', v: '1' }, { k: '2' }], whole: ['a'], atomic: { x: '1' } },
        },
      },
      {
        ...applyTo(`${things}/t`, 'two', thing({ spec: { map: [{ k: '1', v: '2' }], whole: ['b'] } })),
        ...conflict(
          'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.whole\n- .spec.map[k="1"].v',
          ['conflict with "one"', '.spec.whole'],
          ['conflict with "one"', '.spec.map[k="1"].v'],
        ),
      },
      {
        ...applyTo(`${things}/t`, 'one', thing({ spec: { atomic: { y: '1' } } })),
        ...conflict(/\.spec\.atomic$/, ['conflict with "two"', '.spec.atomic']),
      },
    ],
  },
];
