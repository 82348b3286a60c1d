import { asTable, core, given, type ParityCase, status } from './case.ts';

const leases = '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases';

export const smallCases: readonly ParityCase[] = [
  {
    name: 'stores a Lease with microseconds',
    steps: [
      {
        send: `POST ${leases}`,
        body: {
          metadata: { name: 'a' },
          spec: {
            holderIdentity: 'x',
            leaseDurationSeconds: 15,
            acquireTime: '2026-01-02T03:04:05.123456Z',
            renewTime: '2026-01-02T03:04:05.123456Z',
            leaseTransitions: 0,
          },
        },
        code: 201,
        gives: {
          apiVersion: 'coordination.k8s.io/v1',
          spec: { holderIdentity: 'x', renewTime: '2026-01-02T03:04:05.123456Z', leaseTransitions: 0 },
        },
      },
    ],
  },
  {
    name: 'validates a Lease',
    steps: [
      {
        send: `POST ${leases}`,
        body: { metadata: { name: 'a' }, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
        code: 422,
        gives: status('Invalid', /spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0/, {
          causes: [{ field: 'spec.leaseDurationSeconds' }, { field: 'spec.leaseTransitions' }],
        }),
      },
    ],
  },
  {
    name: 'only one of two holders acquires a Lease',
    steps: [
      {
        send: `POST ${leases}`,
        body: { metadata: { name: 'a' }, spec: { holderIdentity: 'x' } },
        code: 201,
        keep: { version: 'metadata.resourceVersion' },
      },
      {
        send: `PUT ${leases}/a`,
        body: { metadata: { name: 'a', resourceVersion: '{version}' }, spec: { holderIdentity: 'y' } },
        code: 200,
      },
      {
        send: `PUT ${leases}/a`,
        body: { metadata: { name: 'a', resourceVersion: '{version}' }, spec: { holderIdentity: 'z' } },
        code: 409,
        gives: status('Conflict', /^Operation cannot be fulfilled on leases.coordination.k8s.io "a"/),
      },
    ],
  },
  {
    name: 'assigns a permanent address to a Service',
    steps: [
      {
        send: `POST ${core}/services`,
        body: { metadata: { name: 's' }, spec: { ports: [{ port: 80 }], selector: { a: 'b' } } },
        code: 201,
        gives: {
          spec: {
            type: 'ClusterIP',
            clusterIP: /^\d+\.\d+\.\d+\.\d+$/,
            sessionAffinity: 'None',
            ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
          },
          status: { loadBalancer: {} },
        },
      },
      {
        send: `PATCH ${core}/services/s`,
        body: { spec: { clusterIP: '10.1.1.1' } },
        code: 422,
        gives: status('Invalid', /may not change once set/),
      },
      { send: `DELETE ${core}/services/s`, code: 200 },
    ],
  },
  {
    name: 'supports Services without an address',
    steps: [
      {
        send: `POST ${core}/services`,
        body: { metadata: { name: 's' }, spec: { clusterIP: 'None', ports: [{ port: 9182, name: 'metrics' }] } },
        code: 201,
        gives: { spec: { clusterIP: 'None', clusterIPs: ['None'], ports: [{ name: 'metrics', targetPort: 9182 }] } },
      },
      {
        send: `POST ${core}/services`,
        body: { metadata: { name: 't' }, spec: {} },
        code: 422,
        gives: status('Invalid', 'Service "t" is invalid: spec.ports: Required value'),
      },
    ],
  },
  {
    name: 'stores Endpoints',
    steps: [
      {
        send: `POST ${core}/endpoints`,
        body: {
          metadata: { name: 'e' },
          subsets: [
            {
              addresses: [{ ip: '10.1.1.1', nodeName: 'n', targetRef: { kind: 'Node', name: 'n' } }],
              ports: [{ port: 9182, name: 'metrics' }],
            },
          ],
        },
        code: 201,
        gives: {
          subsets: [
            {
              addresses: [{ ip: '10.1.1.1', nodeName: 'n' }],
              ports: [{ port: 9182, name: 'metrics', protocol: 'TCP' }],
            },
          ],
        },
      },
    ],
  },
  {
    name: 'prints the columns of small kinds',
    steps: [
      given('x'),
      {
        send: `GET ${leases}`,
        accept: asTable,
        code: 200,
        gives: { columnDefinitions: [{ name: 'Name' }, { name: 'Holder' }, { name: 'Age' }] },
      },
      {
        send: `GET ${core}/services`,
        accept: asTable,
        code: 200,
        gives: {
          columnDefinitions: [
            { name: 'Name' },
            { name: 'Type' },
            { name: 'Cluster-IP' },
            { name: 'External-IP' },
            { name: 'Port(s)' },
            { name: 'Age' },
            { name: 'Selector', priority: 1 },
          ],
        },
      },
      {
        send: `GET ${core}/events`,
        accept: asTable,
        code: 200,
        gives: {
          columnDefinitions: [
            { name: 'Last Seen' },
            { name: 'Type' },
            { name: 'Reason' },
            { name: 'Object' },
            { name: 'Subobject', priority: 1 },
            { name: 'Source', priority: 1 },
            { name: 'Message' },
            { name: 'First Seen', priority: 1 },
            { name: 'Count', priority: 1 },
            { name: 'Name', priority: 1 },
          ],
        },
      },
    ],
  },
  {
    name: 'sets defaults of a workload, whose selector is immutable',
    steps: [
      {
        send: 'POST /apis/apps/v1/namespaces/{ns}/daemonsets',
        body: {
          metadata: { name: 'd' },
          spec: {
            selector: { matchLabels: { a: 'b' } },
            template: {
              metadata: { labels: { a: 'b' } },
              spec: { containers: [{ name: 'c', image: 'example.com/i:1' }] },
            },
          },
        },
        code: 201,
        gives: {
          metadata: { generation: 1 },
          spec: {
            revisionHistoryLimit: 10,
            template: { spec: { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' } },
          },
          status: { desiredNumberScheduled: 0 },
        },
      },
      {
        send: 'PATCH /apis/apps/v1/namespaces/{ns}/daemonsets/d',
        body: { spec: { selector: { matchLabels: { a: 'c' } }, template: { metadata: { labels: { a: 'c' } } } } },
        code: 422,
        gives: status('Invalid', /spec.selector: Invalid value: .*field is immutable/),
      },
      {
        send: 'POST /apis/apps/v1/namespaces/{ns}/daemonsets',
        body: {
          metadata: { name: 'e' },
          spec: {
            selector: { matchLabels: { a: 'b' } },
            template: { metadata: { labels: { a: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
          },
        },
        code: 422,
        gives: status('Invalid', /`selector` does not match template `labels`/),
      },
    ],
  },
];
