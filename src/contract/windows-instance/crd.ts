import {
  instancePhases,
  instanceSources,
  windowsInstanceGroup,
  windowsInstanceKind,
  windowsInstanceVersion,
} from './resource.ts';

type Schema = Record<string, unknown>;

const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more });
const oneOf = (values: readonly string[], description: string): Schema => text(description, { enum: [...values] });
const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});
const listOf = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more });
const count = (description: string): Schema => ({ type: 'integer', format: 'int64', description });
const time = (description: string): Schema => text(description, { format: 'date-time' });

/** IPv4 address or host name; the operator checks more than a pattern can. */
const addressPattern = '^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$';

/** A NetBIOS name, as Windows requires. */
export const computerNamePattern = '^[A-Za-z0-9]([A-Za-z0-9-]{0,13}[A-Za-z0-9])?$';

const specSchema = object(
  {
    address: text('IPv4 address of the host, or a DNS name that resolves to one.', {
      maxLength: 253,
      pattern: addressPattern,
    }),
    port: { type: 'integer', description: 'SSH port; default: 22.', minimum: 1, maximum: 65535 },
    username: text('Windows user with administrator rights.', { minLength: 1, maxLength: 256 }),
    keySecret: object(
      {
        name: text('Secret in the namespace of the operator.', { minLength: 1 }),
        key: text('Key in that Secret; default: private-key.pem.'),
      },
      { description: 'Private key for SSH; default: the Secret cloud-private-key.', required: ['name'] },
    ),
    hostKey: text('SSH host key known in advance, as `<type> <base64>`. Without it the first key is pinned.'),
    hostname: text('New computer name of the host before it joins.', {
      maxLength: 15,
      pattern: computerNamePattern,
    }),
    source: object(
      {
        kind: oneOf(instanceSources, 'What created this instance.'),
        name: text('Name of the Machine, or key in windows-instances.'),
      },
      {
        description: 'Set by the operator; missing or Direct when an administrator created the object.',
        required: ['kind'],
      },
    ),
    labels: {
      type: 'object',
      description: 'Labels for the Node.',
      additionalProperties: { type: 'string' },
    },
    taints: listOf(
      object(
        {
          key: text('Taint key.', { minLength: 1 }),
          value: text('Taint value.'),
          effect: oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], 'Taint effect.'),
        },
        { required: ['key', 'effect'] },
      ),
      { description: 'Taints for the Node, beside os=Windows:NoSchedule.' },
    ),
    paused: { type: 'boolean', description: 'While true the operator does not change the host.' },
    servingNames: listOf(text('DNS name or IP address.', { minLength: 1, maxLength: 253 }), {
      description:
        'Further names for the serving certificate of the kubelet, beside node name and addresses of the host.',
      maxItems: 16,
    }),
  },
  { required: ['address'] },
);

const conditionSchema = object(
  {
    type: text('Kind of condition.'),
    status: oneOf(['True', 'False', 'Unknown'], 'State of the condition.'),
    reason: text('Stable error code or reason.'),
    message: text('What happened and what to do about it.'),
    lastTransitionTime: time('When the state last changed.'),
    observedGeneration: { type: 'integer', format: 'int64' },
  },
  { required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'] },
);

const timelineSchema = object(
  {
    name: text('Step of the journey.'),
    started: time('Start of the latest attempt.'),
    firstStarted: time('Start of the first attempt, if there were several.'),
    finished: time('End of the successful attempt.'),
    attempts: { type: 'integer', description: 'Number of attempts.' },
    lastError: object(
      { code: text('Stable error code.'), message: text('What went wrong.'), remedy: text('What to do about it.') },
      { required: ['code', 'message', 'remedy'] },
    ),
  },
  { required: ['name', 'started', 'attempts'] },
);

const identitySchema = (description: string): Schema =>
  object(
    {
      keyHash: text('SHA-256 of the public key.'),
      installed: time('When the agent was last installed with this key.'),
      certificateEnds: time('End of the newest certificate issued for it.'),
    },
    { description, required: ['keyHash', 'installed'] },
  );

const tokenSchema = object(
  {
    id: text('Id of the token, as the API server writes it into requests.'),
    use: oneOf(['kubelet', 'agent'], 'The certificate that it can request.'),
    expires: time('When it expires.'),
  },
  { required: ['id', 'use', 'expires'] },
);

const statusSchema = object({
  phase: oneOf(instancePhases, 'Phase of the host.'),
  step: text('Current step.'),
  nextAttempt: time('When a failed host is retried at the latest.'),
  progress: object(
    {
      bytes: count('Bytes uploaded.'),
      totalBytes: count('Bytes to upload.'),
      started: time('When the first byte was sent.'),
    },
    { description: 'Progress of the current upload.', required: ['bytes', 'totalBytes'] },
  ),
  activity: object(
    {
      since: time('Start of this attempt of the step.'),
      waitsFor: text('What the step waits for.'),
      usualSeconds: count('How long the step usually takes. Not set for steps whose duration cannot be known.'),
      limitSeconds: count('The step fails after this time.'),
      remedy: text('What to check; set when the step has taken more than twice the usual time.'),
    },
    {
      description: 'What the current step does, and how long that usually takes.',
      required: ['since', 'limitSeconds'],
    },
  ),
  reboot: object(
    { bootId: text('Boot of the host that the reboot ended.'), because: text('Why the host was rebooted.') },
    { description: 'The last reboot that the operator requested.', required: ['bootId', 'because'] },
  ),
  node: text('Name of the Node.'),
  nodeUID: text('UID of the Node.'),
  hostKey: text('Pinned SSH host key, as `<type> <base64>`.'),
  host: object(
    {
      name: text('Node name read from the host.'),
      addresses: listOf(text('Address that was dialed, or that of the default route.')),
    },
    { description: 'Read from the host over the pinned connection.', required: ['name', 'addresses'] },
  ),
  certifiedName: text('Node name for which a kubelet certificate of the host was approved.'),
  tokens: listOf(tokenSchema, { description: 'Tokens that were given to the host and have not expired.' }),
  agent: identitySchema('Key of the agent on the host.'),
  cloudNode: identitySchema('Key of cloud-node-manager on the host (Azure).'),
  ipv4: text('Address the name resolved to.'),
  version: text('Operator version that configured the host.'),
  observedGeneration: { type: 'integer', format: 'int64' },
  conditions: listOf(conditionSchema, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
  timeline: listOf(timelineSchema),
});

const column = (name: string, jsonPath: string, type = 'string') => ({ name, type, jsonPath });

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
      },
      versions: [
        {
          name: windowsInstanceVersion,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [
            column('Source', '.spec.source.kind'),
            column('Address', '.spec.address'),
            column('Node', '.status.node'),
            column('Phase', '.status.phase'),
            column('Step', '.status.step'),
            column('Version', '.status.version'),
            column('Age', '.metadata.creationTimestamp', 'date'),
          ],
          schema: { openAPIV3Schema: object({ spec: specSchema, status: statusSchema }, { required: ['spec'] }) },
        },
      ],
    },
  };
}
