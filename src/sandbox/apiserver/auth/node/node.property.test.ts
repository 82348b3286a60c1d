import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readerOf, stored } from '../../../../../test/kit/api-reader.ts';
import { configMaps, leases, nodes, pods, secrets } from '../../../../kube/resources.ts';
import type { UserInfo } from '../../ports.ts';
import { createAuthorizer } from '../authorizer.ts';
import { forbiddenLabels } from './labels.ts';
import { restrictNode } from './restriction.ts';

const names = ['a', 'b', 'c'];
const nodeNames = ['n1', 'n2', 'n3'];
const kubelet = (node: string): UserInfo => ({ username: `system:node:${node}`, groups: ['system:nodes'] });

const anyPod = fc.record({
  namespace: fc.constantFrom('ns', 'other'),
  node: fc.constantFrom(...nodeNames, ''),
  isMirror: fc.boolean(),
  secrets: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 }),
  configMaps: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 }),
});

test('a kubelet reads exactly those Secrets and ConfigMaps that a pod on its node refers to', () => {
  const anyRequest = fc.record({
    node: fc.constantFrom(...nodeNames),
    verb: fc.constantFrom('get', 'list', 'watch', 'update', 'delete'),
    resource: fc.constantFrom('secrets' as const, 'configmaps' as const),
    namespace: fc.constantFrom('ns', 'other', ''),
    name: fc.constantFrom(...names, ''),
  });
  fc.assert(
    fc.property(fc.array(anyPod, { maxLength: 5 }), fc.array(anyRequest, { maxLength: 20 }), (all, requests) => {
      const api = readerOf(
        all.map(({ namespace, node, isMirror, ...references }, index) => [
          pods,
          {
            metadata: {
              namespace,
              name: `p${index}`,
              ...(isMirror ? { annotations: { 'kubernetes.io/config.mirror': 'x' } } : {}),
            },
            spec: {
              nodeName: node,
              volumes: [
                ...references.secrets.map(secretName => ({ secret: { secretName } })),
                ...references.configMaps.map(name => ({ configMap: { name } })),
              ],
            },
          },
        ]),
      );
      for (const { node, resource, ...request } of requests) {
        const what = resource === 'secrets' ? ('secrets' as const) : ('configMaps' as const);
        const refers = all.some(
          pod =>
            pod.node === node &&
            !pod.isMirror &&
            pod.namespace === request.namespace &&
            pod[what].includes(request.name),
        );
        const reads = ['get', 'list', 'watch'].includes(request.verb);
        const asked = {
          user: kubelet(node),
          path: '',
          group: '',
          version: 'v1',
          resource,
          subresource: '',
          ...request,
        };
        expect(createAuthorizer(api).authorize(asked).allowed).toBe(refers && reads);
      }
    }),
    { numRuns: 500 },
  );
});

test('a kubelet can never write the Node or the lease of another', () => {
  const anyMetadata = fc.record({
    name: fc.constantFrom(...nodeNames),
    labels: fc.dictionary(fc.constantFrom('a', 'kubernetes.io/os', 'node-role.kubernetes.io/x'), fc.constant('1')),
  });
  fc.assert(
    fc.property(
      fc.constantFrom(...nodeNames),
      anyMetadata,
      fc.constantFrom(nodes, leases),
      fc.constantFrom('create' as const, 'update' as const, 'delete' as const),
      (node, metadata, resource, operation) => {
        const placed = resource === leases ? { ...metadata, namespace: 'kube-node-lease' } : metadata;
        const object = stored(resource, { metadata: placed });
        const old = operation === 'create' ? undefined : object;
        const admit = () =>
          restrictNode({ user: kubelet(node), operation, resource, subresource: '', object, old }, readerOf([]));
        if (metadata.name !== node)
          expect(admit).toThrow(expect.objectContaining({ status: expect.objectContaining({ code: 403 }) }));
      },
    ),
    { numRuns: 1000 },
  );
});

test('other kinds are not restricted', () => {
  for (const resource of [secrets, configMaps]) {
    const object = stored(resource, { metadata: { namespace: 'ns', name: 'a' } });
    const request = {
      user: kubelet('n1'),
      operation: 'update',
      resource,
      subresource: '',
      object,
      old: object,
    } as const;
    expect(restrictNode(request, readerOf([]))).toBeUndefined();
  }
});

test('labels outside Kubernetes domains and unchanged labels are never forbidden', () => {
  const domain = fc.constantFrom(
    '',
    'example.com/',
    'kubernetes.io/',
    'x.k8s.io/',
    'node.kubernetes.io/',
    'node-restriction.kubernetes.io/',
  );
  const key = fc.tuple(domain, fc.constantFrom('a', 'os', 'hostname')).map(([prefix, name]) => `${prefix}${name}`);
  const labels = fc.dictionary(key, fc.constantFrom('1', '2'));
  fc.assert(
    fc.property(labels, labels, (next, old) => {
      const forbidden = forbiddenLabels(next, old);
      expect(forbidden).toEqual(forbiddenLabels(old, next));
      expect(forbiddenLabels(next, next)).toEqual([]);
      for (const item of forbidden) {
        expect(next[item]).not.toBe(old[item]);
        expect(item).toMatch(/(kubernetes|k8s)\.io\//);
      }
    }),
    { numRuns: 1000 },
  );
});
