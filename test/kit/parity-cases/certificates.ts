import { makeCsr } from '../csr.ts';
import { asTable, type ParityCase, type Step, status } from './case.ts';
import { changed } from './changed.ts';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const one = `${requests}/c-{id}`;
const request = Buffer.from(makeCsr()).toString('base64');
const usages = ['digital signature', 'client auth'];
// No controller signs for this signer.
const signerName = 'example.com/nobody';
const certificateId = changed(
  undefined,
  { 'authentication.kubernetes.io/credential-id': [/^X509SHA256=[0-9a-f]{64}$/] },
  { until: 31, from: 32 },
);

function ask(spec: Record<string, unknown> = {}): Step {
  return {
    send: `POST ${requests}`,
    body: { metadata: { name: 'c-{id}' }, spec: { request, signerName, usages, ...spec } },
    code: 201,
  };
}

const approved = { type: 'Approved', status: 'True', reason: 'R', message: 'M' };
const approve: Step = { send: `PATCH ${one}/approval`, body: { status: { conditions: [approved] } }, code: 200 };

export const certificateCases: readonly ParityCase[] = [
  {
    name: 'records the requester of a certificate',
    steps: [
      {
        ...ask({ username: 'somebody', groups: ['else'] }),
        gives: { spec: { signerName, usages, username: /^(?!somebody)/, extra: certificateId }, status: {} },
        lacks: ['status.conditions'],
      },
      {
        send: `PATCH ${one}`,
        body: { metadata: { labels: { l: 'm' } }, spec: { signerName: 'a.b/c' }, status: { certificate: 'eHh4' } },
        code: 200,
        gives: { metadata: { labels: { l: 'm' } }, spec: { signerName } },
        lacks: ['status.certificate'],
      },
    ],
  },
  {
    name: 'validates a certificate request',
    steps: [
      {
        ...ask({ signerName: undefined }),
        code: 422,
        gives: status(
          'Invalid',
          changed(
            /spec.signerName: Required value: signerName must be provided/,
            /spec.signerName: Required value(?!:)/,
          ),
        ),
      },
      {
        ...ask({ signerName: 'nobody', usages: [] }),
        code: 422,
        gives: status('Invalid', /spec.usages: Required value: usages must be provided/),
      },
      {
        ...ask({ request: 'eHh4', usages: ['x'] }),
        code: 422,
        gives: status(
          'Invalid',
          /PEM block type must be CERTIFICATE REQUEST.*spec.usages\[0\]: Unsupported value: "x"/,
        ),
      },
      {
        ...ask({ usages: ['client auth', 'client auth'] }),
        code: 422,
        gives: status('Invalid', /spec.usages\[1\]: Duplicate value: "client auth"/),
      },
    ],
  },
  {
    name: 'approval sets times and changes only conditions',
    steps: [
      ask(),
      {
        send: `PATCH ${one}/approval`,
        body: {
          metadata: { labels: { l: 'm' } },
          spec: { username: 'q' },
          status: { conditions: [approved], certificate: 'eHh4' },
        },
        code: 200,
        gives: {
          spec: { signerName },
          status: { conditions: [{ ...approved, lastUpdateTime: /Z$/, lastTransitionTime: /Z$/ }] },
        },
        lacks: ['status.certificate'],
      },
      { send: `GET ${one}/approval`, code: 200, gives: { status: { conditions: [{ type: 'Approved' }] } } },
    ],
  },
  {
    name: 'rejects the removal of an approval',
    steps: [
      ask(),
      approve,
      {
        send: `PATCH ${one}/approval`,
        body: { status: { conditions: [] } },
        code: 422,
        gives: status('Invalid', /status.conditions: Forbidden: updates may not remove a condition of type "Approved"/),
      },
      {
        send: `PATCH ${one}/approval`,
        body: { status: { conditions: [approved, { type: 'Denied', status: 'True' }] } },
        code: 422,
        gives: status('Invalid', /Approved and Denied conditions are mutually exclusive/),
      },
      {
        send: `PATCH ${one}/approval`,
        body: { status: { conditions: [{ ...approved, status: 'False' }] } },
        code: 422,
        gives: status('Invalid', /status.conditions\[0\].status: Unsupported value: "False"/),
      },
    ],
  },
  {
    name: 'accepts a certificate once, only through the status',
    steps: [
      ask(),
      approve,
      {
        send: `PATCH ${one}/status`,
        body: { status: { certificate: 'eHh4' } },
        code: 422,
        gives: status('Invalid', /status.certificate: Invalid value: "<certificate data>"/),
      },
    ],
  },
  {
    name: 'denies a request',
    steps: [
      ask(),
      {
        send: `PATCH ${one}/approval`,
        body: { status: { conditions: [{ type: 'Denied', status: 'True', reason: 'No' }] } },
        code: 200,
        gives: { status: { conditions: [{ type: 'Denied', reason: 'No' }] } },
      },
      {
        send: `GET ${one}`,
        accept: asTable,
        code: 200,
        gives: { rows: [{ object: { metadata: { name: 'c-{id}' } } }] },
      },
    ],
  },
  {
    name: 'signs what is approved for a client of the API server',
    steps: [
      ask({ signerName: 'kubernetes.io/kube-apiserver-client', usages: ['digital signature', 'client auth'] }),
      { send: `GET ${one}`, code: 200, lacks: ['status.certificate'] },
      approve,
      { send: `GET ${one}`, code: 200, gives: { status: { certificate: /./ } }, eventually: true },
      {
        send: `PATCH ${one}/status`,
        body: { status: { certificate: null } },
        code: 422,
        gives: status('Invalid', /updates may not modify existing certificate content/),
      },
    ],
  },
  {
    name: 'selects requests by signer',
    steps: [
      ask({ signerName: 'example.com/s-{id}' }),
      {
        send: `GET ${requests}?fieldSelector=spec.signerName%3Dexample.com%2Fs-{id}`,
        code: 200,
        gives: { items: [{ metadata: { name: 'c-{id}' } }] },
      },
    ],
  },
];
