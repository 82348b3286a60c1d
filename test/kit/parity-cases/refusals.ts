import { core, given, type ParityCase, status } from './case.ts';
import { changed } from './changed.ts';

const configMaps = `POST ${core}/configmaps`;
const upperCase = /a lowercase RFC 1123 subdomain must consist of/;

export const refusalCases: readonly ParityCase[] = [
  {
    name: 'rejects an existing name',
    steps: [
      given('a'),
      {
        send: configMaps,
        body: { metadata: { name: 'a' } },
        code: 409,
        gives: status('AlreadyExists', 'configmaps "a" already exists', { name: 'a', kind: 'configmaps' }),
      },
    ],
  },
  {
    name: 'rejects an invalid name',
    steps: [
      {
        send: configMaps,
        body: { metadata: { name: 'A_b' } },
        code: 422,
        gives: status('Invalid', /^ConfigMap "A_b" is invalid: metadata.name: Invalid value: "A_b": a lowercase/, {
          name: 'A_b',
          kind: 'ConfigMap',
          causes: [{ reason: 'FieldValueInvalid', message: upperCase, field: 'metadata.name' }],
        }),
      },
    ],
  },
  {
    name: 'rejects an object without a name',
    steps: [
      {
        send: configMaps,
        body: { metadata: {} },
        code: 422,
        gives: status(
          'Invalid',
          'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
          { causes: [{ reason: 'FieldValueRequired', field: 'metadata.name' }] },
        ),
      },
    ],
  },
  {
    name: 'rejects a dot in the name of a Namespace',
    steps: [
      {
        send: 'POST /api/v1/namespaces',
        body: { metadata: { name: 'a.b' } },
        code: 422,
        gives: status(
          'Invalid',
          changed(
            /a lowercase RFC 1123 label must consist of/,
            /metadata.name: Invalid value: "a.b": must not contain dots$/,
            { from: 32 },
          ),
        ),
      },
    ],
  },
  {
    name: 'rejects invalid labels, annotations, owners and finalizers',
    steps: [
      {
        send: configMaps,
        body: { metadata: { name: 'a', labels: { '-': 'x' } } },
        code: 422,
        gives: status('Invalid', /metadata.labels: Invalid value: "-": name part must consist of/),
      },
      {
        send: configMaps,
        body: { metadata: { name: 'a', labels: { a: 'b c' } } },
        code: 422,
        gives: status('Invalid', /metadata.labels: Invalid value: "b c": a valid label must be an empty string or/),
      },
      {
        send: configMaps,
        body: { metadata: { name: 'a', annotations: { '/x': 'y' } } },
        code: 422,
        gives: status('Invalid', /metadata.annotations: Invalid value: "\/x": prefix part must be non-empty/),
      },
      {
        send: configMaps,
        body: { metadata: { name: 'a', ownerReferences: [{ name: 'a' }] } },
        code: 422,
        gives: status('Invalid', /metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty/, {
          causes: [
            { field: 'metadata.ownerReferences.apiVersion' },
            { field: 'metadata.ownerReferences.kind' },
            { field: 'metadata.ownerReferences.uid' },
          ],
        }),
      },
      {
        send: configMaps,
        body: { metadata: { name: 'a', finalizers: ['xy'] } },
        code: 422,
        gives: status('Invalid', /name is neither a standard finalizer name nor is it fully qualified/),
      },
    ],
  },
  {
    name: 'rejects a namespace that differs from the path',
    steps: [
      {
        send: configMaps,
        body: { metadata: { name: 'a', namespace: 'other' } },
        code: 400,
        gives: status(
          'BadRequest',
          'the namespace of the provided object does not match the namespace sent on the request',
        ),
      },
    ],
  },
  {
    name: 'rejects a missing namespace',
    steps: [
      {
        send: 'POST /api/v1/namespaces/{ns}-none/configmaps',
        body: { metadata: { name: 'a' } },
        code: 404,
        gives: status('NotFound', 'namespaces "{ns}-none" not found', { name: '{ns}-none', kind: 'namespaces' }),
      },
    ],
  },
  {
    name: 'rejects a resourceVersion on a new object',
    steps: [
      {
        send: configMaps,
        body: { metadata: { name: 'a', resourceVersion: '5' } },
        code: 500,
        gives: { message: 'resourceVersion should not be set on objects to be created' },
      },
    ],
  },
  {
    name: 'rejects a body of another kind or version',
    steps: [
      {
        send: configMaps,
        body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } },
        code: 400,
        gives: status('BadRequest', /^Secret in version "v1" cannot be handled as a ConfigMap/),
      },
      {
        send: configMaps,
        body: { apiVersion: 'apps/v1', kind: 'ConfigMap', metadata: { name: 'a' } },
        code: 400,
        gives: status('BadRequest'),
      },
    ],
  },
  {
    name: 'rejects a value of the wrong type',
    steps: [
      {
        send: configMaps,
        body: { metadata: { name: 'a' }, data: { k: 1 } },
        code: 400,
        gives: status('BadRequest', /^ConfigMap in version "v1" cannot be handled as a ConfigMap/),
      },
      {
        send: `POST ${core}/secrets`,
        body: { metadata: { name: 'a' }, data: { k: 'no base64' } },
        code: 400,
        gives: status('BadRequest', /^Secret in version "v1" cannot be handled as a Secret/),
      },
      {
        send: 'POST /apis/coordination.k8s.io/v1/namespaces/{ns}/leases',
        body: { metadata: { name: 'a' }, spec: { renewTime: 'yesterday' } },
        code: 400,
        gives: status('BadRequest', /^Lease in version "v1" cannot be handled as a Lease/),
      },
    ],
  },
  {
    name: 'rejects a body that is not an object',
    steps: [
      { send: configMaps, body: '{bad', code: 400, gives: status('BadRequest', /couldn't get version\/kind/) },
      { send: configMaps, body: '', code: 400, gives: status('BadRequest') },
    ],
  },
  {
    name: 'rejects an unknown content type',
    steps: [
      {
        send: configMaps,
        body: { metadata: { name: 'a' } },
        type: 'text/plain',
        code: 415,
        gives: status('UnsupportedMediaType', /^the body of the request was in an unknown format/),
      },
    ],
  },
  {
    name: 'rejects a body that is too large',
    steps: [
      {
        send: configMaps,
        body: { metadata: { name: 'a' }, data: { k: 'x'.repeat(3_200_000) } },
        code: 413,
        gives: status('RequestEntityTooLarge', /Request entity too large: limit is 3145728/),
      },
      {
        send: configMaps,
        body: { metadata: { name: 'a' }, data: { k: 'x'.repeat(1_100_000) } },
        code: 422,
        gives: status('Invalid', /Too long: /),
      },
    ],
  },
  {
    name: 'validates the keys of a ConfigMap',
    steps: [
      {
        send: configMaps,
        body: { metadata: { name: 'a' }, data: { 'a b': '1' } },
        code: 422,
        gives: status('Invalid', /data\[a b\]: Invalid value: "a b": a valid config key must consist of/),
      },
      {
        send: configMaps,
        body: { metadata: { name: 'a' }, data: { x: '1' }, binaryData: { x: 'ZA==' } },
        code: 422,
        gives: status('Invalid', /data\[x\]: Invalid value: "x": duplicate of key present in binaryData/),
      },
    ],
  },
  {
    name: 'rejects creation on the path of all namespaces',
    steps: [
      {
        send: 'POST /api/v1/configmaps',
        body: { metadata: { name: 'a', namespace: '{ns}' } },
        code: 405,
        gives: status('MethodNotAllowed', 'the server does not allow this method on the requested resource'),
      },
    ],
  },
];
