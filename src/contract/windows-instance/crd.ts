import { windowsInstanceGroup, windowsInstanceKind, windowsInstanceVersion } from './resource.ts';
import { object } from './schema.ts';
import { specSchema } from './spec-schema.ts';
import { statusSchema } from './status-schema.ts';

const instanceSchema = object(
  'WindowsInstance is a Windows Server host that the operator makes a Node and keeps one. The operator creates one ' +
    'for each Windows Machine and each entry of the ConfigMap windows-instances; you can create further ones.',
  { spec: specSchema, status: statusSchema },
  { required: ['spec'] },
);

const column = (name: string, jsonPath: string, description: string, type = 'string') => ({
  name,
  type,
  description,
  jsonPath,
});

/** Printed only by `kubectl get -o wide`. */
const wide = (...given: Parameters<typeof column>) => ({ ...column(...given), priority: 1 });

const conditionPath = (type: string, field: string) => `.status.conditions[?(@.type=="${type}")].${field}`;

const columns = [
  column('Node', '.status.node', 'Name of its Node.'),
  column('Phase', '.status.phase', 'What happens to the host now.'),
  column('Step', '.status.step', 'Current step.'),
  column('Reason', conditionPath('Ready', 'reason'), 'Reason of the condition Ready; an error code after a failure.'),
  wide('Address', '.spec.address', 'IPv4 address or DNS name of the host.'),
  wide('Source', '.spec.source.kind', 'What the instance was created from.'),
  wide('User', '.spec.username', 'Windows user for SSH.'),
  wide('IPv4', '.status.ipv4', 'Address to which the name resolved.'),
  wide('Kubelet', conditionPath('KubeletReachable', 'status'), 'Whether the operator reaches the kubelet.'),
  wide('Journey', '.status.journey.name', 'Journey that runs, or waits for its next attempt.'),
  wide('Version', '.status.version', 'Version of the operator that configured the host.'),
  wide('Next Attempt', '.status.nextAttempt', 'When a failed host is retried at the latest.'),
  column('Age', '.metadata.creationTimestamp', 'Time since the instance was created.', 'date'),
];

/** The CustomResourceDefinition of WindowsInstance; `deploy/crd` and `wmco render crd` are printed from it. */
export function windowsInstanceCrd(): object {
  const plural = 'windowsinstances';
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${windowsInstanceGroup}` },
    spec: {
      group: windowsInstanceGroup,
      scope: 'Namespaced',
      names: {
        kind: windowsInstanceKind,
        listKind: `${windowsInstanceKind}List`,
        plural,
        singular: 'windowsinstance',
        shortNames: ['wi'],
        categories: ['windows'],
      },
      versions: [
        {
          name: windowsInstanceVersion,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: instanceSchema },
        },
      ],
    },
  };
}
