import { windowsInstanceCrd } from '../../../src/contract/windows-instance/crd.ts';
import { windowsInstanceGroup } from '../../../src/contract/windows-instance/resource.ts';
import { asTable, type ParityCase, type Step } from './case.ts';
import { crds } from './widget.ts';

const group = 'i{id}.example.com';
const collection = `/apis/${group}/v1alpha1/namespaces/{ns}/windowsinstances`;

/** Our definition in a group of its own, because cases run at the same time. */
const definition = JSON.parse(
  JSON.stringify(windowsInstanceCrd())
    .replaceAll(windowsInstanceGroup, group)
    .replace('"shortNames":["wi"]', '"shortNames":["wi{id}"]'),
) as unknown;

const instance = (spec: object) => ({
  apiVersion: `${group}/v1alpha1`,
  kind: 'WindowsInstance',
  metadata: { name: 'win1' },
  spec,
});

const define: readonly Step[] = [
  { send: `POST ${crds}`, body: definition, code: 201 },
  { send: `GET ${collection}`, code: 200, gives: { kind: 'WindowsInstanceList', items: [] }, eventually: true },
];

const refused: [about: string, spec: object, message: RegExp][] = [
  ['without a user name', { address: '10.0.0.1' }, /spec\.username: Required value/],
  ['with an empty user name', { address: '10.0.0.1', username: '' }, /spec\.username: Invalid value: ""/],
  ['without an address', { username: 'Administrator' }, /spec\.address: Required value/],
];

const condition = (type: string, status: string, reason: string) => ({
  type,
  status,
  reason,
  message: 'm',
  lastTransitionTime: '2026-03-01T12:00:00Z',
});

export const instanceCases: readonly ParityCase[] = [
  ...refused.map(([about, spec, message]) => ({
    name: `refuses a WindowsInstance ${about}`,
    steps: [
      ...define,
      { send: `POST ${collection}`, body: instance(spec), code: 422, gives: { reason: 'Invalid', message } },
    ],
  })),
  {
    name: 'shows the columns of a WindowsInstance',
    steps: [
      ...define,
      { send: `POST ${collection}`, body: instance({ address: '10.0.0.1', username: 'Administrator' }), code: 201 },
      {
        send: `PATCH ${collection}/win1/status`,
        body: {
          status: {
            phase: 'Failed',
            step: 'connect',
            conditions: [condition('Accepted', 'True', 'Accepted'), condition('Ready', 'False', 'HOST_UNREACHABLE')],
          },
        },
        code: 200,
      },
      {
        send: `GET ${collection}`,
        accept: asTable,
        code: 200,
        gives: {
          columnDefinitions: [
            { name: 'Name', priority: 0 },
            { name: 'Node', priority: 0 },
            { name: 'Phase', priority: 0 },
            { name: 'Step', priority: 0 },
            { name: 'Reason', priority: 0 },
            { name: 'Address', priority: 1 },
            { name: 'Source', priority: 1 },
            { name: 'User', priority: 1 },
            { name: 'IPv4', priority: 1 },
            { name: 'Kubelet', priority: 1 },
            { name: 'Journey', priority: 1 },
            { name: 'Version', priority: 1 },
            { name: 'Next Attempt', priority: 1 },
            { name: 'Age', priority: 0 },
          ],
          rows: [
            {
              cells: [
                'win1',
                null,
                'Failed',
                'connect',
                'HOST_UNREACHABLE',
                '10.0.0.1',
                null,
                'Administrator',
                null,
                null,
                null,
                null,
                null,
                /^\d+s$/,
              ],
            },
          ],
        },
      },
    ],
  },
];
